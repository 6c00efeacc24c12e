/**
 * What was typed and not sent, of each conversation and of the page where one begins: it is there
 * again when one comes back.
 */
export class Drafts {
  private readonly texts = new Map<string | undefined, string>();
  private begun: { readonly contextId: string; readonly typing: boolean } | undefined;

  /** What is written for a conversation, or for a new one. */
  text(contextId: string | undefined): string {
    return this.texts.get(contextId) ?? "";
  }

  write(contextId: string | undefined, text: string): void {
    this.texts.set(contextId, text);
  }

  /** A conversation has begun. What is still typed where it did so is meant for its own box. */
  begin(contextId: string, typing: boolean): void {
    this.begun = { contextId, typing };
  }

  /** Its box is there, and takes over what was typed meanwhile. True if somebody is typing. */
  takeOver(contextId: string | undefined): boolean {
    const { begun } = this;
    if (begun === undefined || begun.contextId !== contextId) {
      return false;
    }
    this.begun = undefined;
    this.write(contextId, this.text(undefined));
    this.write(undefined, "");
    return begun.typing;
  }
}
