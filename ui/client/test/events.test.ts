import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { KINDS } from "../src/index.js";

const ROOT = new URL("../../", import.meta.url);

test("the types of events are those of the schema", async () => {
  const generator = (await import(new URL("tools/generate-events.mjs", ROOT).href)) as {
    generate(): string;
  };
  const written = readFileSync(new URL("src/events.ts", ROOT), "utf8");
  assert.equal(written, generator.generate(), "run: npm run generate");
});

test("every kind of the schema is known", () => {
  const path = "../../protocol/src/main/resources/dev/parley/protocol/events.schema.json";
  const schema = JSON.parse(readFileSync(new URL(path, ROOT), "utf8")) as { $defs: object };
  assert.deepEqual([...KINDS], Object.keys(schema.$defs));
});
