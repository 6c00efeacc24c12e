import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useRef } from "preact/hooks";
import { Code } from "./Code.js";
import { decodeEntities, safeLink } from "./sanitize.js";

/** Longer text is parsed incrementally while it grows. */
const WHOLE_MAX = 4_000;
/** Text that may refer to a later definition. */
const REFERENCE = /\]\s*\[|\[[^\]]*\](?!\()/;
/** The number of last blocks that more text may still change. */
const OPEN_PIECES = 2;

interface MarkdownProps {
  readonly text: string;
  /** True while the text grows. */
  readonly live?: boolean;
  /** True if a single line break ends the line, as in messages; files wrap their paragraphs. */
  readonly breaks?: boolean;
}

/**
 * Renders Markdown as elements. HTML from models and tools is shown as text, links lead only to web
 * and mail addresses, and no image is loaded.
 */
export function Markdown({ text, live = false, breaks = true }: MarkdownProps) {
  const pieces = usePieces(text, live, breaks);
  return (
    <div class="markdown">
      {pieces.map((piece, i) => (
        <Piece key={i} raw={piece.raw} token={piece} />
      ))}
    </div>
  );
}

/** The blocks of the text; unchanged blocks keep their identity. */
function usePieces(given: string, live: boolean, breaks: boolean): readonly Token[] {
  // The lexer normalizes line ends too; otherwise the lengths of the blocks would not add up.
  const text = given.replace(/\r\n|\r/g, "\n");
  const known = useRef<{ text: string; pieces: readonly Token[]; whole: boolean }>(undefined);
  const before = known.current;
  if (before?.text === text && (before.whole || live)) {
    return before.pieces;
  }
  const grows = live && before !== undefined && text.startsWith(before.text);
  if (grows && text.length > WHOLE_MAX && before.pieces.length > OPEN_PIECES) {
    const kept = before.pieces.slice(0, -OPEN_PIECES);
    const length = kept.reduce((sum, piece) => sum + piece.raw.length, 0);
    const pieces = [...kept, ...piecesOf(text.slice(length), breaks)];
    known.current = { text, pieces, whole: false };
    return pieces;
  }
  const pieces = piecesOf(text, breaks);
  known.current = { text, pieces, whole: true };
  return pieces;
}

function piecesOf(text: string, breaks: boolean): readonly Token[] {
  try {
    return new Lexer({ gfm: true, breaks }).lex(text);
  } catch {
    // No model output may break the page.
    return [{ type: "text", raw: text, text } as Tokens.Text];
  }
}

const Piece = memo(
  ({ token }: { raw: string; token: Token }) => <>{block(token)}</>,
  // A later definition can turn text into a link.
  (before, after) =>
    before.token === after.token ||
    (before.raw === after.raw &&
      before.token.type === after.token.type &&
      !REFERENCE.test(after.raw)),
);

function block(token: Token): ComponentChildren {
  switch (token.type) {
    case "heading":
      return heading(token as Tokens.Heading);
    case "paragraph":
      return <p>{inlines(token.tokens)}</p>;
    case "code":
      return <Code text={token.text as string} language={(token as Tokens.Code).lang} />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case "list":
      return list(token as Tokens.List);
    case "table":
      return table(token as Tokens.Table);
    case "hr":
      return <hr />;
    case "space":
    case "def":
      return null;
    case "text":
      return token.tokens === undefined
        ? decodeEntities(token.text as string)
        : inlines(token.tokens);
    case "html":
      return <p>{token.raw.trimEnd()}</p>;
    default:
      return inline(token);
  }
}

function blocks(tokens: readonly Token[] | undefined): ComponentChildren {
  return (tokens ?? []).map((token, i) => <Piece key={i} raw={token.raw} token={token} />);
}

/** Headings are two levels lower, below those of the page. */
function heading(token: Tokens.Heading): ComponentChildren {
  const children = inlines(token.tokens);
  switch (token.depth) {
    case 1:
      return <h3 class="h1">{children}</h3>;
    case 2:
      return <h4 class="h2">{children}</h4>;
    case 3:
      return <h5 class="h3">{children}</h5>;
    default:
      return <h6 class="h4">{children}</h6>;
  }
}

function list(token: Tokens.List): ComponentChildren {
  const items = token.items.map((item, i) => (
    <li key={i} class={item.task ? "task" : undefined}>
      {item.task && (
        <input type="checkbox" disabled checked={item.checked === true} aria-label="done" />
      )}
      {blocks(item.tokens.filter((one) => (one.type as string) !== "checkbox"))}
    </li>
  ));
  const start = typeof token.start === "number" && token.start !== 1 ? token.start : undefined;
  return token.ordered ? <ol start={start}>{items}</ol> : <ul>{items}</ul>;
}

function table(token: Tokens.Table): ComponentChildren {
  const side = (i: number): string | undefined =>
    token.align[i] === undefined || token.align[i] === null ? undefined : `to-${token.align[i]}`;
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, i) => (
              <th key={i} class={side(i)} scope="col">
                {inlines(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, r) => (
            <tr key={r}>
              {row.map((cell, i) => (
                <td key={i} class={side(i)}>
                  {inlines(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: readonly Token[] | undefined): ComponentChildren {
  return (tokens ?? []).map(inline);
}

function inline(token: Token): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong>{inlines(token.tokens)}</strong>;
    case "em":
      return <em>{inlines(token.tokens)}</em>;
    case "del":
      return <del>{inlines(token.tokens)}</del>;
    case "codespan":
      return <code>{token.text as string}</code>;
    case "br":
      return <br />;
    case "link":
      return <SafeLink href={(token as Tokens.Link).href}>{inlines(token.tokens)}</SafeLink>;
    case "image":
      return picture(token as Tokens.Image);
    case "text":
      return token.tokens === undefined
        ? decodeEntities(token.text as string)
        : inlines(token.tokens);
    case "escape":
      return token.text as string;
    default:
      return token.raw;
  }
}

/** Only a link: loading the image would send a request to a third party. */
function picture(token: Tokens.Image): ComponentChildren {
  const words = token.text === "" ? "picture" : token.text;
  return <SafeLink href={token.href}>{`[${words}]`}</SafeLink>;
}

export function SafeLink({ href, children }: { href: string; children: ComponentChildren }) {
  const safe = safeLink(href);
  return safe === undefined ? (
    <span class="no-link" title={`This page does not open this link: ${href.slice(0, 200)}`}>
      {children}
    </span>
  ) : (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow" title={safe.slice(0, 200)}>
      {children}
    </a>
  );
}
