/** Questions may expire or be answered in another tab; keep this many drafts. */
const ANSWERS_MAX = 100;

/** Where a tab keeps its drafts over a reload. */
const STORED = "parley.drafts";
/** The number of characters that are kept over a reload; the newest drafts come first. */
const STORED_MAX = 500_000;
/** Parts of answers that are kept over a reload. Fields of forms may be secret and are not. */
const STORED_PARTS: readonly string[] = ["text", "reason"];

/** A draft as it is stored: its conversation or question, the part of an answer, and the text. */
type StoredDraft = readonly [id: string, part: string, text: string];

/** Unsent text of each conversation and of the new-conversation page. */
export class Drafts {
  private readonly texts = new Map<string | undefined, string>();
  private readonly answers = new Map<string, Map<string, unknown>>();
  private begun: { readonly contextId: string; readonly typing: boolean } | undefined;

  /** Restores what this tab had before it was reloaded. */
  restore(): void {
    for (const [id, part, text] of storedDrafts()) {
      if (part === "") {
        this.texts.set(id === "" ? undefined : id, text);
      } else {
        this.writeAnswer(id, part, text);
      }
    }
  }

  /** Keeps the drafts for the next load of this tab. */
  store(): void {
    const answers = [...this.answers].flatMap(([id, parts]) =>
      STORED_PARTS.map((part): StoredDraft => [id, part, textOf(parts.get(part))]),
    );
    const texts = [...this.texts].map(([id, text]): StoredDraft => [id ?? "", "", text]);
    const kept: StoredDraft[] = [];
    let length = 0;
    for (const draft of [...texts, ...answers].reverse()) {
      const [, , text] = draft;
      if (text.trim() !== "" && length + text.length <= STORED_MAX) {
        length += text.length;
        kept.unshift(draft);
      }
    }
    writeStored(kept.length === 0 ? undefined : JSON.stringify(kept));
  }

  /** Removes what is kept for the next load. */
  static forget(): void {
    writeStored(undefined);
  }

  /** The draft of a conversation, or of a new one. */
  text(contextId: string | undefined): string {
    return this.texts.get(contextId) ?? "";
  }

  write(contextId: string | undefined, text: string): void {
    // The draft that was changed last is the last one.
    this.texts.delete(contextId);
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

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function storedDrafts(): readonly StoredDraft[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isStoredDraft) : [];
  } catch {
    return [];
  }
}

function isStoredDraft(value: unknown): value is StoredDraft {
  return (
    Array.isArray(value) && value.length === 3 && value.every((one) => typeof one === "string")
  );
}

function writeStored(text: string | undefined): void {
  try {
    if (text === undefined) {
      sessionStorage.removeItem(STORED);
    } else {
      sessionStorage.setItem(STORED, text);
    }
  } catch {
    // Without storage, drafts last as long as the page.
  }
}
