import assert from "node:assert/strict";
import { test } from "node:test";
import { fileTextOf, tableRowsOf } from "../src/tool-result.js";

test("the result of reading a file is the file", () => {
  const result = { path: "a.txt", content: "one\ntwo\n", size: 8 };
  const file = { path: "a.txt", text: "one\ntwo\n", firstLine: 1, cut: false };
  assert.deepEqual(fileTextOf(result, {}), file);
  assert.equal(fileTextOf({ ...result, nextOffset: 8 }, undefined)?.cut, true);
  assert.equal(fileTextOf(result, { offset: 4 })?.firstLine, undefined);
});

test("other results are not files", () => {
  assert.equal(fileTextOf({ path: "a.txt", content: { a: 1 } }, {}), undefined);
  assert.equal(fileTextOf({ path: "a.txt", content: "a", owner: "me" }, {}), undefined);
  assert.equal(fileTextOf("text", {}), undefined);
});

test("a list of flat objects is a table", () => {
  const rows = [{ a: 1 }, { a: 2, b: null }];
  assert.deepEqual(tableRowsOf(rows), rows);
  assert.deepEqual(tableRowsOf({ items: rows }), rows);
});

test("other lists are not tables", () => {
  assert.equal(tableRowsOf([{ a: 1 }]), undefined);
  assert.equal(tableRowsOf([{ a: 1 }, "two"]), undefined);
  assert.equal(tableRowsOf([{ a: 1 }, { a: { b: 2 } }]), undefined);
  assert.equal(tableRowsOf([{}, {}]), undefined);
  assert.equal(tableRowsOf({ items: [{ a: 1 }, { a: 2 }], next: "x" }), undefined);
});
