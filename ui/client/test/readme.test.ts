import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { blocks, ROOT } from "./guides.js";

test("the example of the README is the one that is compiled and run here", () => {
  const example = readFileSync(new URL("test/example.ts", ROOT), "utf8");
  assert.deepEqual(blocks("README.md", "ts"), [example]);
});

test("the code of the guide is the code that is compiled here", () => {
  const compiled = readFileSync(new URL("test/guide.ts", ROOT), "utf8");
  const guide = blocks("../../docs/typescript-client.md", "ts");
  assert.equal(guide.length, compiled.match(/^export .*function/gm)?.length);
  for (const code of guide) {
    assert.ok(compiled.includes(code.replace(/^(?=.)/gm, "  ")), code);
  }
});
