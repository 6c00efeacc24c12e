import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveClock } from "../src/index.js";
import { TestClock } from "./fake-server.js";

const SECOND_MS = 1_000;

/** Every delay lasts until the test advances the time. */
function stopped(): TestClock {
  return new TestClock(0);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test("the time advances once a second while something runs, with one timer for all", async () => {
  const clock = stopped();
  const live = new LiveClock(clock);
  const start = live.get();
  const seen: number[] = [];
  live.subscribe(() => seen.push(live.get() - start));
  const stopFirst = live.run();
  const stopSecond = live.run();
  assert.equal(clock.pending, 1);
  for (let i = 0; i < 3; i++) {
    clock.advance(SECOND_MS);
    await turn();
  }
  assert.deepEqual(seen, [1_000, 2_000, 3_000]);
  stopFirst();
  stopFirst();
  assert.equal(clock.pending, 1, "the second user still runs");
  stopSecond();
  await turn();
  assert.equal(clock.pending, 0, "no timer while nothing runs");
  clock.advance(SECOND_MS);
  await turn();
  assert.equal(seen.length, 3);
});

test("a hidden page has no timer, and shows the current time when it is visible", async () => {
  const clock = stopped();
  const live = new LiveClock(clock);
  const start = live.get();
  live.pause();
  live.run();
  assert.equal(clock.pending, 0);
  live.resume();
  assert.equal(clock.pending, 1);
  live.pause();
  await turn();
  assert.equal(clock.pending, 0);
  clock.advance(60 * SECOND_MS);
  live.resume();
  assert.equal(live.get() - start, 60 * SECOND_MS);
});
