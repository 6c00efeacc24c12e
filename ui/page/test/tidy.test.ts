import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../", import.meta.url);
const LINES_MAX = 400;
const WIDTH_MAX = 100;
/** The ways in which text could become elements or code. */
const DANGEROUS =
  /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function|DOMParser|createContextualFragment|srcdoc/;

const files = ["src", "test", "tools"].flatMap((folder) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|tsx|mjs|css)$/.test(name))
    .map((name) => ({
      name: `${folder}/${name}`,
      text: readFileSync(new URL(`${folder}/${name}`, ROOT), "utf8"),
    })),
);

test("no file is too long, and no line", () => {
  assert.ok(files.length > 40);
  for (const { name, text } of files.filter((file) => !file.name.endsWith(".css"))) {
    const lines = text.trimEnd().split("\n");
    assert.ok(lines.length <= LINES_MAX, `${name} has ${lines.length} lines`);
    // Long string literals are not split.
    const wide = lines.findIndex(
      (line) => line.length > WIDTH_MAX && !/["`/].{50,}["`/]/.test(line),
    );
    assert.ok(wide < 0, `${name}, line ${wide + 1} is too long`);
  }
});

test("no text is ever taken for HTML or for code", () => {
  for (const { name, text } of files.filter((file) => file.name.startsWith("src/"))) {
    assert.doesNotMatch(text, DANGEROUS, name);
  }
});
