import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { NO_SERVER, Server } from "./server.js";

const ROOT = new URL("../../", import.meta.url);
const PATIENCE_MS = 60_000;

function blocks(file: string, language: string): string[] {
  const text = readFileSync(new URL(file, ROOT), "utf8");
  return [...text.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, "g"))].map(
    (found) => found[1] ?? "",
  );
}

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

describe("with a real server", { skip: NO_SERVER }, () => {
  let server: Server;

  before(async () => {
    server = await Server.start();
  });

  after(() => server.stop());

  test("the example prints what the README says", async () => {
    const program = fileURLToPath(new URL("example.js", import.meta.url));
    const options = { env: { ...process.env, PARLEY_URL: server.url }, timeout: PATIENCE_MS };
    const { stdout } = await promisify(execFile)(process.execPath, [program], options);
    assert.deepEqual(blocks("README.md", "text"), [stdout]);
  });
});
