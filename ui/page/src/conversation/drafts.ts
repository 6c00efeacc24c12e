/** Questions may lapse, or be answered elsewhere: of so many what was begun is kept. */
const ANSWERS_MAX = 100;

/**
 * What was typed and not sent, of each conversation and of the page where one begins: it is there
 * again when one comes back.
 */
export class Drafts {
  private readonly texts = new Map<string | undefined, string>();
  private readonly answers = new Map<string, Map<string, unknown>>();
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

  /** A part of an answer that is not given yet; nothing, if it was not begun. */
  answer(askId: string, part: string): unknown {
    return this.answers.get(askId)?.get(part);
  }

  /** An answer in words that is not given yet. */
  answerText(askId: string): string {
    return String(this.answer(askId, "text") ?? "");
  }

  writeAnswer(askId: string, part: string, value: unknown): void {
    const parts = this.answers.get(askId) ?? new Map<string, unknown>();
    this.answers.set(askId, parts.set(part, value));
    for (const oldest of this.answers.keys()) {
      if (this.answers.size > ANSWERS_MAX) {
        this.answers.delete(oldest);
      }
    }
  }

  /** It was given. */
  answered(askId: string): void {
    this.answers.delete(askId);
  }
}
