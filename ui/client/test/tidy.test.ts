import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../", import.meta.url);
const LINES_MAX = 600;
const WIDTH_MAX = 100;
const GENERATED = "src/events.ts";

const files = ["src", "test", "tools"].flatMap((folder) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|mjs)$/.test(name))
    .map((name) => ({
      name: `${folder}/${name}`,
      lines: readFileSync(new URL(`${folder}/${name}`, ROOT), "utf8")
        .trimEnd()
        .split("\n"),
    })),
);

test("no file is too long, and no line", () => {
  assert.ok(files.length > 20);
  for (const { name, lines } of files) {
    assert.ok(lines.length <= LINES_MAX, `${name} has ${lines.length} lines`);
    // Long string literals are not split.
    const wide = lines.findIndex((line) => line.length > WIDTH_MAX && !/["`].{50,}["`]/.test(line));
    assert.ok(wide < 0 || name === GENERATED, `${name}, line ${wide + 1} is too long`);
  }
});

test("the package itself needs nothing but what browsers have", () => {
  const main = files.filter(({ name }) => name.startsWith("src/"));
  for (const { name, lines } of main) {
    for (const line of lines) {
      const from = / from "([^"]*)"/.exec(line)?.[1];
      assert.ok(from === undefined || /^\.\.?\/[a-z-]+\.js$/.test(from), `${name} imports ${from}`);
      assert.doesNotMatch(line, /\b(process|Buffer|console|document|window)\./, name);
    }
  }
  const description = readFileSync(new URL("package.json", ROOT), "utf8");
  assert.doesNotMatch(description, /"dependencies"/);
});

test("everything of the package is exported, or is its own business", () => {
  const indexes = files
    .filter(({ name }) => /^src\/(compat\/)?index\.ts$/.test(name))
    .flatMap(({ lines }) => lines)
    .join("\n");
  const internal = [
    "artifact-events",
    "connection",
    "form-check",
    "index",
    "lag",
    "model-calls",
    "rewind",
    "timeline-anchors",
    "timeline-facts",
    "title",
  ];
  for (const { name } of files.filter((file) => file.name.startsWith("src/"))) {
    const module = name.replace(/^src\/(compat\/)?|\.ts$/g, "");
    const known = indexes.includes(`"./${module}.js"`) || internal.includes(module);
    assert.ok(known, `${name} is neither exported nor internal`);
  }
});
