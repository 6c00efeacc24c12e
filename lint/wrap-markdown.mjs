// Wraps the prose of all tracked Markdown files at 100 columns. With --check, reports the files that
// would change and exits with 1. Code blocks, tables, headings and HTML stay as they are.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const WIDTH = 100;
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const FENCE = /^\s*(`{3,}|~{3,})/;
const ITEM = /^(\s*(?:[-*+]|\d{1,9}[.)])\s+)(?=\S)/;
const VERBATIM = /^\s*(?:$|#{1,6}\s|\||<|\[[^\]]+\]:\s|(?:[-*_]\s*){3,}$)/;
// A word at the start of a line that Markdown would not read as text.
const MARKUP = /^(?:[-+*>|=#~<].*|\d{1,9}[.)])$/;

/** Splits text into words; code spans and the address of a link are never split. */
function words(text) {
  return text.match(/(?:`+[^`]*`+|\]\([^)]*\)|\S)+/g) ?? [];
}

function fill(text, first, rest) {
  const lines = [];
  let line = "";
  for (const word of words(text)) {
    const indent = lines.length === 0 ? first : rest;
    if (line === "") {
      line = indent + word;
    } else if (line.length + 1 + word.length > WIDTH && !MARKUP.test(word)) {
      lines.push(line);
      line = rest + word;
    } else {
      line += ` ${word}`;
    }
  }
  return [...lines, line];
}

export function wrap(source) {
  const output = [];
  let paragraph = null;
  let fence = null;
  const flush = () => {
    if (paragraph) {
      output.push(...fill(paragraph.text.join(" "), paragraph.first, paragraph.rest));
      paragraph = null;
    }
  };
  const lines = source.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at];
    const mark = FENCE.exec(line)?.[1];
    if (fence || mark) {
      flush();
      output.push(line);
      if (!fence) {
        fence = mark;
      } else if (mark?.startsWith(fence) && line.trim() === mark) {
        fence = null;
      }
      continue;
    }
    const isTable = line.includes("|") && /^\s*\|?[\s:|-]+$/.test(lines[at + 1] ?? "x");
    if (VERBATIM.test(line) || isTable) {
      flush();
      output.push(line);
      continue;
    }
    const quote = /^(\s*>\s?)+/.exec(line)?.[0];
    const item = ITEM.exec(quote ? line.slice(quote.length) : line)?.[1];
    const prefix = quote ?? "";
    if (item !== undefined || (quote ?? "") !== (paragraph?.quote ?? "")) {
      flush();
    }
    if (!paragraph) {
      const indent = item ?? /^\s*/.exec(line.slice(prefix.length))[0];
      const isCode = !item && indent.length >= 4 && (output.at(-1) ?? "").trim() === "" && !inList(output);
      if (isCode) {
        output.push(line);
        continue;
      }
      paragraph = {
        quote: quote ?? "",
        first: prefix + indent,
        rest: prefix + " ".repeat(indent.length),
        text: [],
      };
    }
    paragraph.text.push(line.slice(prefix.length).replace(ITEM, "").trim());
    if (/(?: {2}|\\)$/.test(line)) {
      flush();
      output[output.length - 1] += line.endsWith("\\") ? "" : "  ";
    }
  }
  flush();
  return output.join("\n");
}

function inList(output) {
  const last = output.findLast((line) => line.trim() !== "") ?? "";
  return ITEM.test(last) || /^\s{2,}/.test(last);
}

const check = process.argv.includes("--check");
const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], {
  cwd: root,
})
  .toString()
  .split("\0")
  .filter((file) => file !== "");
const changed = files.filter((file) => {
  const path = join(root, file);
  const source = readFileSync(path, "utf8");
  const wrapped = wrap(source);
  if (wrapped === source) {
    return false;
  }
  if (!check) {
    writeFileSync(path, wrapped);
  }
  return true;
});
if (changed.length > 0) {
  console.log(check ? "Not wrapped at 100 columns (run: npm --prefix lint run format):" : "Wrapped:");
  for (const file of changed) {
    console.log(`  ${file}`);
  }
  process.exit(check ? 1 : 0);
}
