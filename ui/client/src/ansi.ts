/** A part of the output of a program, with its style. */
export interface AnsiSpan {
  readonly text: string;
  /** The text color, 0 to 15 as in a terminal; undefined for the usual one. */
  readonly color: number | undefined;
  readonly background: number | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
}

type Style = Omit<AnsiSpan, "text">;

const USUAL: Style = {
  color: undefined,
  background: undefined,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
};

/** Output with more parts is shown without styles. */
const SPANS_MAX = 5_000;

/** Sequences of a terminal: control sequences, strings such as titles and links, and others. */
const SEQUENCES = new RegExp(
  [
    String.raw`\u001b\[([0-?]*)[ -/]*([@-~])`,
    String.raw`\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?`,
    String.raw`\u001b[ -/]*[0-~]?`,
  ].join("|"),
  "g",
);

/** Characters that a terminal does not show, except tabs and line breaks. */
const CONTROLS = /[^\P{Cc}\t\n]/gu;

/**
 * Splits the output of a program into parts with one style. Colors beyond the 16 of a terminal, and
 * sequences that move the cursor, are ignored. Of a line that a carriage return starts again, only
 * the last text is shown, as in a terminal.
 */
export function ansiSpans(output: string): readonly AnsiSpan[] {
  const text = withoutOverwritten(output);
  const spans: AnsiSpan[] = [];
  let style = USUAL;
  let end = 0;
  const add = (part: string): void => {
    const visible = part.replace(CONTROLS, "");
    if (visible !== "") {
      spans.push({ text: visible, ...style });
    }
  };
  for (const match of text.matchAll(SEQUENCES)) {
    add(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[2] === "m") {
      style = styled(style, match[1] ?? "");
    }
    if (spans.length > SPANS_MAX) {
      const plain = text.replace(SEQUENCES, "").replace(CONTROLS, "");
      return [{ text: plain, ...USUAL }];
    }
  }
  add(text.slice(end));
  return spans;
}

function withoutOverwritten(output: string): string {
  return output
    .replace(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => line.slice(line.replace(/\r+$/, "").lastIndexOf("\r") + 1))
    .join("\n");
}

/** The style after a sequence such as `1;31`. */
function styled(before: Style, parameters: string): Style {
  const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map(Number);
  let style = before;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 38 || code === 48) {
      const indexed = codes[i + 1] === 5;
      const index = indexed ? codes[i + 2] : undefined;
      style = colored(style, code === 38, index !== undefined && index < 16 ? index : undefined);
      i += indexed ? 2 : 4;
    } else {
      style = next(style, code);
    }
  }
  return style;
}

function next(style: Style, code: number): Style {
  switch (code) {
    case 0:
      return USUAL;
    case 1:
      return { ...style, bold: true };
    case 2:
      return { ...style, dim: true };
    case 3:
      return { ...style, italic: true };
    case 4:
      return { ...style, underline: true };
    case 22:
      return { ...style, bold: false, dim: false };
    case 23:
      return { ...style, italic: false };
    case 24:
      return { ...style, underline: false };
    case 39:
    case 49:
      return colored(style, code === 39, undefined);
    default:
      return bright(style, code);
  }
}

/** The colors 30 to 37 and 90 to 97, and for the background 10 more. */
function bright(style: Style, code: number): Style {
  const text = (code >= 30 && code <= 37) || (code >= 90 && code <= 97);
  const background = (code >= 40 && code <= 47) || (code >= 100 && code <= 107);
  if (!text && !background) {
    return style;
  }
  const base = text ? code : code - 10;
  return colored(style, text, base >= 90 ? base - 90 + 8 : base - 30);
}

function colored(style: Style, text: boolean, color: number | undefined): Style {
  return text ? { ...style, color } : { ...style, background: color };
}
