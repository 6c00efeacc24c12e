import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOutputOf } from "../src/command-output.js";

test("the result of a shell is its output and its exit code", () => {
  assert.deepEqual(commandOutputOf({ exitCode: 2, output: "one\ntwo\n" }), {
    output: "one\ntwo\n",
    errorOutput: "",
    exitCode: 2,
    rest: undefined,
  });
  assert.equal(commandOutputOf({ output: "done", exitCode: null })?.exitCode, undefined);
});

test("standard output and standard error stay apart, and other fields are kept", () => {
  assert.deepEqual(commandOutputOf({ stdout: "a", stderr: "b", exit_code: 1, interrupted: true }), {
    output: "a",
    errorOutput: "b",
    exitCode: 1,
    rest: { interrupted: true },
  });
  const cut = commandOutputOf({ output: "a", exitCode: 0, bytesLeftOut: 12 });
  assert.deepEqual(cut?.rest, { bytesLeftOut: 12 });
});

test("other results are not the output of a command", () => {
  for (const result of [
    undefined,
    null,
    "text",
    [{ output: "a" }],
    {},
    { exitCode: 0 },
    { output: { rows: 1 }, exitCode: 0 },
    { output: "a", score: 3 },
    { output: "a", stdout: "b" },
    { output: "a", exitCode: "none" },
  ]) {
    assert.equal(commandOutputOf(result), undefined);
  }
});
