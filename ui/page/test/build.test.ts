import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

interface Build {
  bundle(): Promise<Map<string, Buffer>>;
  committed(): Map<string, Buffer>;
}
const { bundle, committed } = (await import(
  new URL("../../tools/build.mjs", import.meta.url).href
)) as Build;

const GZIPPED_MAX = 500 * 1024;

test("the committed page is what its sources make", async () => {
  const made = await bundle();
  const kept = committed();
  assert.deepEqual(
    [...kept.keys()].sort(),
    [...made.keys()].sort(),
    "run npm run build, and commit",
  );
  for (const [name, bytes] of made) {
    assert.ok(kept.get(name)?.equals(bytes), `${name} differs: run npm run build, and commit`);
  }
});

test("two builds of the same sources are the same", async () => {
  const [first, second] = [await bundle(), await bundle()];
  assert.deepEqual(
    [...first].map(([name, bytes]) => [name, bytes.toString("base64")]),
    [...second].map(([name, bytes]) => [name, bytes.toString("base64")]),
  );
});

test("the whole page is at most 500 KB gzipped", () => {
  const size = [...committed().values()].reduce((sum, bytes) => sum + gzipSync(bytes).length, 0);
  assert.ok(size <= GZIPPED_MAX, `${size} bytes`);
});

test("nothing in the page comes from elsewhere", () => {
  const html = committed().get("index.html")?.toString("utf8") ?? "";
  for (const [, address] of html.matchAll(/(?:src|href)="([^"]*)"/g)) {
    assert.match(address ?? "", /^\/assets\//);
  }
});
