import assert from "node:assert/strict";
import { test } from "node:test";
import { probing } from "../src/connection/probe.js";

/** Lets what has been promised happen. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("one question at a time, given up after a while, and only while it is wanted", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
  const asked: AbortSignal[] = [];
  let wanted = false;
  const stop = probing({
    wanted: () => wanted,
    ask: (signal) => {
      asked.push(signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal)));
    },
    found: () => assert.fail("nobody answered"),
  });
  t.mock.timers.tick(10_000);
  assert.equal(asked.length, 0, "a server that refused is left alone");
  wanted = true;
  t.mock.timers.tick(400);
  t.mock.timers.tick(1_900);
  assert.equal(asked.length, 1, "the first is still out");
  t.mock.timers.tick(100);
  await turn();
  assert.equal(asked[0]?.aborted, true);
  t.mock.timers.tick(400);
  assert.equal(asked.length, 2);
  stop();
  assert.equal(asked[1]?.aborted, true);
  t.mock.timers.tick(10_000);
  assert.equal(asked.length, 2);
});

test("an answer is told once, unless nobody wants it any more", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
  let wanted = true;
  let found = 0;
  const answers: (() => void)[] = [];
  const stop = probing({
    wanted: () => wanted,
    ask: () => new Promise<void>((resolve) => answers.push(resolve)),
    found: () => found++,
  });
  t.mock.timers.tick(400);
  answers.shift()?.();
  await turn();
  assert.equal(found, 1);
  t.mock.timers.tick(400);
  wanted = false;
  answers.shift()?.();
  await turn();
  assert.equal(found, 1);
  stop();
});
