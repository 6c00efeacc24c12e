import assert from "node:assert/strict";
import { test } from "node:test";
import { startProbe } from "../src/connection/probe.js";

/** Runs pending promise callbacks. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("one question at a time, given up after a while, and only while it is enabled", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
  const asked: AbortSignal[] = [];
  let enabled = false;
  const stop = startProbe({
    enabled: () => enabled,
    check: (signal) => {
      asked.push(signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal)));
    },
    onReachable: () => assert.fail("nobody answered"),
  });
  t.mock.timers.tick(10_000);
  assert.equal(asked.length, 0, "a server that refused is left alone");
  enabled = true;
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
  let enabled = true;
  let onReachable = 0;
  const answers: (() => void)[] = [];
  const stop = startProbe({
    enabled: () => enabled,
    check: () => new Promise<void>((resolve) => answers.push(resolve)),
    onReachable: () => onReachable++,
  });
  t.mock.timers.tick(400);
  answers.shift()?.();
  await turn();
  assert.equal(onReachable, 1);
  t.mock.timers.tick(400);
  enabled = false;
  answers.shift()?.();
  await turn();
  assert.equal(onReachable, 1);
  stop();
});
