import assert from "node:assert/strict";
import { test } from "node:test";
import {
  emptyContext,
  LiveContext,
  type LiveState,
  ParleyApi,
  type ParleyEvent,
  reduceAll,
  rowsOf,
  view,
} from "../src/index.js";
import { RandomLog } from "./random-log.js";
import { Random, seeds } from "./random.js";
import { shownOf, snapshotOf } from "./snapshot-of.js";
import { StandIn, TestClock } from "./stand-in.js";

function until(live: LiveContext, check: (state: LiveState) => boolean): Promise<LiveState> {
  return new Promise((resolve) => {
    const leave = live.subscribe(() => look());
    const look = (): void => {
      if (check(live.get())) {
        leave();
        resolve(live.get());
      }
    };
    look();
  });
}

/** A server that has this log, answers for its end, and for snapshots of its past. */
function apiOf(events: readonly ParleyEvent[], random: Random, clock: TestClock): ParleyApi {
  const server = new StandIn([...events], random, clock);
  const answer: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    if (url.pathname.endsWith("/snapshot")) {
      const at = Number(url.searchParams.get("at") ?? events.at(-1)?.seq);
      const past = events.filter((event) => event.seq <= at && (event.seq < at || !event.k));
      return Response.json(snapshotOf(reduceAll(emptyContext("c"), past)));
    }
    return url.pathname.endsWith("/c")
      ? Response.json({ contextId: "c", position: events.at(-1)?.seq })
      : server.fetch(input, init);
  };
  return new ParleyApi({ url: "http://x", fetch: answer });
}

const caughtUp = (events: readonly ParleyEvent[]) => (state: LiveState) =>
  !state.loading && !state.context?.stale && state.context?.seq === events.at(-1)?.seq;

test("recent events and a snapshot before them show what all events do", async () => {
  for (const seed of seeds(20)) {
    const random = new Random(seed);
    const { events } = new RandomLog(seed, 3);
    const clock = new TestClock();
    const live = new LiveContext(apiOf(events, random, clock), "c", {
      from: "recent",
      recent: 1 + random.int(events.length + 5),
      messages: 1_000,
      clock,
      filter: { internal: true },
    });
    const shown: number[] = [];
    live.subscribe(() => shown.push(live.get().context?.seq ?? 0));
    const end = await until(live, caughtUp(events));
    live.close();
    const expected = shownOf(view(reduceAll(emptyContext("c"), events)));
    assert.deepEqual(end.context && shownOf(view(end.context)), expected, `seed ${seed}`);
    // Nobody sees the past pass by.
    assert.ok(
      shown.every((seq) => seq === 0 || seq === events.at(-1)?.seq || end.context?.rewinds),
    );
  }
});

test("earlier events are read when somebody wants them, and nothing is hidden meanwhile", async () => {
  const { events } = new RandomLog(7, 3);
  const clock = new TestClock();
  const live = new LiveContext(apiOf(events, new Random(7), clock), "c", {
    from: "recent",
    recent: 5,
    messages: 1_000,
    clock,
    filter: { internal: true },
  });
  let state = await until(live, caughtUp(events));
  const bases = [state.context?.base ?? 0];
  while ((state.context?.base ?? 0) > 0) {
    live.earlier();
    assert.notEqual(live.get().context, undefined);
    state = await until(live, (now) => caughtUp(events)(now) && now.context !== state.context);
    bases.push(state.context?.base ?? 0);
    assert.ok(bases.length < events.length);
  }
  live.close();
  assert.deepEqual(
    bases,
    [...new Set(bases)].sort((a, b) => b - a),
  );
  const whole = rowsOf(view(reduceAll(emptyContext("c"), events)));
  assert.deepEqual(
    state.context && rowsOf(view(state.context)).map((row) => row.key),
    whole.map((row) => row.key),
  );
});
