import assert from "node:assert/strict";
import { test } from "node:test";
import { ansiSpans } from "../src/ansi.js";

const ESC = "\u001b";
const texts = (output: string): string =>
  ansiSpans(output)
    .map(({ text }) => text)
    .join("");

test("text without sequences is one part", () => {
  const [span, ...others] = ansiSpans("one\ttwo\nthree");
  assert.equal(span?.text, "one\ttwo\nthree");
  assert.equal(span?.color, undefined);
  assert.deepEqual(others, []);
  assert.deepEqual(ansiSpans(""), []);
});

test("colors and weights begin and end with their sequences", () => {
  const spans = ansiSpans(`${ESC}[1;31mred${ESC}[22m thin${ESC}[0m usual ${ESC}[97;44mwhite`);
  assert.deepEqual(
    spans.map(({ text, color, background, bold }) => [text, color, background, bold]),
    [
      ["red", 1, undefined, true],
      [" thin", 1, undefined, false],
      [" usual ", undefined, undefined, false],
      ["white", 15, 4, false],
    ],
  );
});

test("of the 256 colors only the first 16 are used, and the others end one", () => {
  const spans = ansiSpans(`${ESC}[38;5;9ma${ESC}[38;5;200mb${ESC}[31mc${ESC}[38;2;1;2;3md`);
  assert.deepEqual(
    spans.map(({ color }) => color),
    [9, undefined, 1, undefined],
  );
});

test("titles, links, moves and control characters do not appear", () => {
  const link = `${ESC}]8;;http://example.org${ESC}\\text${ESC}]8;;${ESC}\\`;
  assert.equal(texts(`${ESC}]0;title\u0007a${ESC}[2Jb${link}${ESC}[?25lc\u0008${ESC}`), "abtextc");
});

test("a line that was written again shows its last state", () => {
  assert.equal(texts("10 %\r50 %\r100 %\r\nnext\r\n"), "100 %\nnext\n");
});

test("output with very many parts keeps its text", () => {
  const output = Array.from({ length: 6_000 }, (_, i) => `${ESC}[3${i % 8}m${i} `).join("");
  const spans = ansiSpans(output);
  assert.equal(spans.length, 1);
  assert.match(spans[0]?.text ?? "", /^0 1 2 .* 5999 $/);
});
