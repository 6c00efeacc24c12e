/** Indentation may be longer than spaces between words. */
const INDENT_MAX = 40;
const SPACES_MAX = 8;
const BREAKS_MAX = 4;

const RUNS = /(^|\n)?([ \t]{9,}|\n{5,})/g;
const CATEGORIES = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}`;
/** Characters that are invisible. */
const BLANKS =
  String.raw`\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0` +
  String.raw`\u{e0100}-\u{e01ef}`;
const HIDDEN = new RegExp(`[${CATEGORIES}${BLANKS}]`, "gu");
const MARKS = /([\p{Mn}\p{Me}]{4})([\p{Mn}\p{Me}]+)/gu;

/**
 * Makes hidden characters visible in text that a person approves, as server previews do: invisible,
 * bidirectional and control characters become `\u{202E}`, long runs of spaces `⟨300 spaces⟩`. For
 * display only; line breaks and tabs stay.
 */
export function visibleText(text: string): string {
  return text
    .replace(HIDDEN, (one) =>
      one === " " || one === "\n" || one === "\t" ? one : escapeCharacter(one),
    )
    .replace(
      MARKS,
      (_, some: string, more: string) => some + [...more].map(escapeCharacter).join(""),
    )
    .replace(RUNS, (run, before: string | undefined, blank: string, at: number) => {
      if (blank.startsWith("\n")) {
        const breaks = run.length;
        return breaks <= BREAKS_MAX ? run : `⟨${breaks} line breaks⟩\n`;
      }
      const indents = before !== undefined || at === 0;
      const max = indents ? INDENT_MAX : SPACES_MAX;
      return blank.length <= max ? run : `${before ?? ""}⟨${blank.length} spaces⟩`;
    });
}

/** Applies `visibleText` to all strings and keys of a JSON value. */
export function visibleJson<T>(value: T): T {
  if (typeof value === "string") {
    return visibleText(value) as T;
  }
  if (Array.isArray(value)) {
    return value.map(visibleJson) as T;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, one]) => [visibleText(key), visibleJson(one)]);
    return Object.fromEntries(entries) as T;
  }
  return value;
}

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
}
