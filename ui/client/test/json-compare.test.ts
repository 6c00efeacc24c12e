import assert from "node:assert/strict";
import { test } from "node:test";
import { compareJson, type Json, type JsonNode, jsonTree } from "../src/index.js";

function changes(node: JsonNode): Record<string, string> {
  const own = node.children.length === 0 || node.change === "added" || node.change === "removed";
  const found = own && node.change !== "same" ? { [node.path]: node.change } : {};
  return Object.assign(found, ...node.children.map(changes)) as Record<string, string>;
}

test("two versions are compared place by place", () => {
  const before = { a: 1, b: [1, 2, 3], c: { d: true, "x/y": null }, e: "same" };
  const after = { a: 2, b: [1, 3], c: { d: true, f: {} }, e: "same" };
  const tree = compareJson(before, after);
  assert.deepEqual(changes(tree), {
    "/a": "changed",
    "/b/1": "changed",
    "/b/2": "removed",
    "/c/x~1y": "removed",
    "/c/f": "added",
  });
  assert.equal(tree.differences, 5);
});

test("what is the same has no difference, in whatever order its names are", () => {
  const before = { a: { b: 1, c: [{ x: 1, y: 2 }] } };
  const tree = compareJson(before, { a: { c: [{ y: 2, x: 1 }], b: 1 } });
  assert.equal(tree.differences, 0);
  assert.deepEqual(changes(tree), {});
  assert.equal(jsonTree({ a: 1 }).change, "same");
});

test("what becomes of another type is changed, and what is added has all its parts", () => {
  for (const [before, after] of [
    [{ v: [1, 2] }, { v: { a: 1 } }],
    [{ v: 1 }, { v: { a: { b: 2 } } }],
    [{ v: { a: 1 } }, { v: null }],
    [{}, { v: { a: 1 } }],
  ] as [Json, Json][]) {
    assert.ok(compareJson(before, after).differences > 0, JSON.stringify([before, after]));
    assert.equal(compareJson(after, after).differences, 0);
  }
  const names = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}') as Json;
  assert.deepEqual(
    jsonTree(names).children.map((child) => child.name),
    ["__proto__", "constructor"],
  );
});
