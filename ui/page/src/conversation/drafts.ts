/** Questions may expire or be answered in another tab; keep this many drafts. */
const ANSWERS_MAX = 100;

/** Unsent text of each conversation and of the new-conversation page. */
export class Drafts {
  private readonly texts = new Map<string | undefined, string>();
  private readonly answers = new Map<string, Map<string, unknown>>();
  private begun: { readonly contextId: string; readonly typing: boolean } | undefined;

  /** The draft of a conversation, or of a new one. */
  text(contextId: string | undefined): string {
    return this.texts.get(contextId) ?? "";
  }

  write(contextId: string | undefined, text: string): void {
    this.texts.set(contextId, text);
  }

  /**
   * Records that a conversation has started. Text that is still typed on the start page belongs to
   * it.
   */
  begin(contextId: string, typing: boolean): void {
    this.begun = { contextId, typing };
  }

  /**
   * Moves that text to the composer of the new conversation. Returns true if the user is typing.
   */
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

  /** A part of an unsent answer; undefined if it was not started. */
  answer(questionId: string, part: string): unknown {
    return this.answers.get(questionId)?.get(part);
  }

  /** The text of an unsent answer. */
  answerText(questionId: string): string {
    return String(this.answer(questionId, "text") ?? "");
  }

  writeAnswer(questionId: string, part: string, value: unknown): void {
    const parts = this.answers.get(questionId) ?? new Map<string, unknown>();
    this.answers.set(questionId, parts.set(part, value));
    for (const oldest of this.answers.keys()) {
      if (this.answers.size > ANSWERS_MAX) {
        this.answers.delete(oldest);
      }
    }
  }

  /** Removes the draft of a sent answer. */
  answered(questionId: string): void {
    this.answers.delete(questionId);
  }
}
