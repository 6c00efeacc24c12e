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
import { counting } from "./log-server.js";
import { RandomLog } from "./random-log.js";
import { Random, seeds } from "./random.js";
import { shownOf, snapshotOf } from "./snapshot-of.js";
import { FakeServer, TestClock } from "./fake-server.js";

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

/** A server with this log that returns its end and snapshots of its past. */
function serverOf(events: readonly ParleyEvent[], random: Random, clock: TestClock): typeof fetch {
  const server = new FakeServer([...events], random, clock);
  return async (input, init) => {
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
}

function apiOf(events: readonly ParleyEvent[], random: Random, clock: TestClock): ParleyApi {
  return new ParleyApi({ url: "http://x", fetch: serverOf(events, random, clock) });
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
    // Past events are not shown while they load.
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

/** Turns of three events each, a rewind to the first event, and one more turn. */
function rewound(turns: number): ParleyEvent[] {
  const all: object[] = [{ kind: "context-created", owner: "local" }];
  for (let i = 0; i < turns; i++) {
    all.push({ kind: "message", messageId: `m${i}`, role: "user", content: `${i}` });
  }
  all.push({ kind: "context-rewound", toSeq: 1 });
  all.push({ kind: "message", messageId: "last", role: "user", content: "last" });
  return all.map((fields, i) => {
    const timestamp = new Date(Date.UTC(2026, 10, 15) + i).toISOString();
    const place = { seq: i + 1, eventId: `e${i}`, contextId: "c", timestamp };
    return { ...place, ...fields } as unknown as ParleyEvent;
  });
}

test("a rewind far back is no reason to read all that it left, until somebody asks", async () => {
  const events = rewound(500);
  const clock = new TestClock();
  const live = new LiveContext(apiOf(events, new Random(1), clock), "c", {
    from: "recent",
    recent: 10,
    clock,
  });
  let { context } = await until(live, caughtUp(events));
  assert.equal(context?.base, 502);
  assert.deepEqual(context && rowsOf(view(context)).map((row) => row.key), ["m-last"]);
  live.earlier();
  ({ context } = await until(live, (now) => caughtUp(events)(now) && now.context?.base !== 502));
  live.close();
  assert.equal(context?.base, 1);
  assert.equal(context && view(context).branches[0]?.messages.length, 500);
});

test("what a link leads to is read at once, however far back it is", async () => {
  const events = counting(1_000);
  const clock = new TestClock();
  const live = new LiveContext(apiOf(events, new Random(1), clock), "c", {
    from: "recent",
    recent: 10,
    clock,
  });
  const { context } = await until(live, caughtUp(events));
  live.earlier(200);
  const next = await until(live, (now) => caughtUp(events)(now) && now.context !== context);
  live.close();
  assert.equal(next.context?.base, 190);
});

test("what is not recent is forgotten while it streams, if nobody looks at it", async () => {
  for (const forgetful of [true, false]) {
    const events = counting(1_000);
    const clock = new TestClock();
    const server = serverOf(events, new Random(1), clock);
    let heads = 0;
    const answer: typeof fetch = (input, init) =>
      String(input).endsWith("/c") && heads++ === 0
        ? Promise.resolve(Response.json({ contextId: "c", position: 20 }))
        : server(input, init);
    const live = new LiveContext(new ParleyApi({ url: "http://x", fetch: answer }), "c", {
      from: "recent",
      recent: 10,
      clock,
    });
    live.forgets(forgetful);
    const seen = new Set<string>();
    live.subscribe(() => {
      const { loading, connection, context } = live.get();
      // Once loaded, it stays and does not show as loading.
      if (!loading || seen.size > 0) {
        seen.add(`${loading} ${connection?.status} ${context === undefined}`);
      }
    });
    const { context } = await until(live, caughtUp(events));
    live.close();
    assert.equal(context?.base, forgetful ? events.length - 10 : 10);
    assert.equal(heads, forgetful ? 2 : 1);
    assert.deepEqual([...seen], ["false live false"]);
    assert.deepEqual(
      context && shownOf(view(context)),
      shownOf(view(reduceAll(emptyContext("c"), events))),
    );
  }
});

test("what cannot be loaded yet says why, and is tried again at once when it is told", async () => {
  const events = counting(5);
  const clock = new TestClock();
  const server = serverOf(events, new Random(1), clock);
  let away = true;
  const answer: typeof fetch = (input, init) =>
    away ? Promise.reject(new TypeError("Failed to fetch")) : server(input, init);
  const live = new LiveContext(new ParleyApi({ url: "http://x", fetch: answer }), "c", {
    from: "recent",
    backoff: { firstMs: 3_600_000, maxMs: 3_600_000 },
  });
  const { connection } = await until(live, (now) => now.connection?.status === "waiting");
  assert.equal(connection?.unreachable, true);
  assert.match(connection?.reason ?? "", /reach|fetch/);
  away = false;
  live.reconnect();
  await until(live, caughtUp(events));
  live.close();
});

test("what is known stays, and goes on, when more of the past cannot be had", async () => {
  const events = counting(1_000);
  const clock = new TestClock();
  const server = serverOf(events, new Random(1), clock);
  let refused = 0;
  const answer: typeof fetch = (input, init) => {
    if (String(input).includes("at=") && !String(input).includes("at=994")) {
      refused++;
      return Promise.resolve(Response.json({ code: "context-too-large" }, { status: 413 }));
    }
    return server(input, init);
  };
  const live = new LiveContext(new ParleyApi({ url: "http://x", fetch: answer }), "c", {
    from: "recent",
    recent: 10,
    clock,
  });
  await until(live, caughtUp(events));
  live.earlier();
  const { context, error } = await until(live, (now) => refused > 0 && caughtUp(events)(now));
  live.earlier();
  live.close();
  assert.equal(error, undefined);
  assert.equal(context?.base, 994);
  assert.equal(refused, 1);
});
