import assert from "node:assert/strict";
import { test } from "node:test";
import { visibleJson, visibleText } from "../src/index.js";

test("what cannot be seen is written by its number", () => {
  const points = [
    0, 7, 8, 0xb, 0xc, 0xd, 0x1b, 0x7f, 0x85, 0x9b, 0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x1160,
    0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x202f, 0x2060,
    0x2066, 0x2069, 0x2800, 0x3000, 0x3164, 0xd800, 0xdfff, 0xe000, 0xfe0f, 0xfeff, 0xffa0, 0xfff9,
    0xe0001, 0xe0100,
  ];
  for (const point of points) {
    const number = point.toString(16).toUpperCase();
    assert.equal(visibleText(`a${String.fromCodePoint(point)}b`), `a\\u{${number}}b`);
  }
});

test("long runs are counted", () => {
  assert.equal(visibleText(`ls${" ".repeat(300)}; rm x`), "ls⟨300 spaces⟩; rm x");
  assert.equal(visibleText(`ls${"\n".repeat(50)}rm x`), "ls⟨50 line breaks⟩\nrm x");
  assert.equal(visibleText(`a\n${" ".repeat(300)}b`), "a\n⟨300 spaces⟩b");
  assert.equal(visibleText(`a${"\u0301".repeat(5)}`), `a${"\u0301".repeat(4)}\\u{301}`);
});

test("other text stays as it is, and so does what was made visible", () => {
  const diff = `@@ -1 +1 @@\n-${" ".repeat(8)}if (a) {\n+  x`;
  for (const text of ["", "git status", diff, "größe 語 🦜", "a\tb\n\nc", `${" ".repeat(30)}x`]) {
    assert.equal(visibleText(text), text);
  }
  const once = visibleText(`a\u202eb${" ".repeat(99)}\u001b[2J\r`);
  assert.equal(visibleText(once), once);
});

test("all texts of a value are made visible", () => {
  assert.deepEqual(visibleJson({ a: ["\u202e", 1, null], "b\u200b": { c: true } }), {
    a: ["\\u{202E}", 1, null],
    "b\\u{200B}": { c: true },
  });
});
