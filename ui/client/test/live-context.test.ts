import assert from "node:assert/strict";
import { test } from "node:test";
import {
  emptyContext,
  LiveContext,
  type LiveState,
  ParleyApi,
  ParleyError,
  reduceAll,
  view,
} from "../src/index.js";
import { RandomLog } from "./random-log.js";
import { Random, seeds } from "./random.js";
import { shownOf, snapshotOf } from "./snapshot-of.js";
import { type Fault, opening, FakeServer, TestClock } from "./fake-server.js";

/** Waits until the live context is in a state. */
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

test("CORE-9: whatever happens on the way, a live context ends up as the log says", async () => {
  for (const seed of seeds(20)) {
    const random = new Random(seed);
    const { events } = new RandomLog(seed, 3);
    const clock = new TestClock();
    const server = new FakeServer(events, random, clock);
    server.faults = Array.from({ length: random.int(6) }, (): Fault => {
      const at = random.int(5000);
      return random.pick<Fault>([
        { cutAt: at, repeat: random.int(3) },
        { silentAt: at },
        { refuse: 503 },
      ]);
    });
    const head = 1 + random.int(events.length);
    const answer: typeof fetch = async (input, init) => {
      if (!String(input).endsWith("/snapshot")) {
        return server.fetch(input, init);
      }
      if (random.chance(0.2)) {
        return new Response("", { status: 503 });
      }
      // The log grows: a later snapshot has more.
      const upTo = server.requests.length === 0 ? head : events.length;
      return Response.json(snapshotOf(reduceAll(emptyContext("c"), events.slice(0, upTo))));
    };
    const api = new ParleyApi({ url: "http://x", fetch: answer });
    const options = { clock, random: () => random.next(), filter: { internal: true } };
    const live = new LiveContext(api, "c", options);
    const last = events.at(-1);
    const end = await until(
      live,
      ({ context }) =>
        context?.seq === last?.seq && context?.k === (last?.k ?? 0) && !context?.stale,
    );
    live.close();
    const expected = shownOf(view(reduceAll(emptyContext("c"), events)));
    assert.deepEqual(end.context && shownOf(view(end.context)), expected, `seed ${seed}`);
  }
});

test("a reader that is ahead of the log, which was put back, loads the context afresh", async () => {
  const { events } = new RandomLog(3, 1);
  const gap =
    'event: stream-gap\ndata: {"kind":"stream-gap","reason":"ahead-of-head","position":2}\n\n';
  const heads = [events.length, 2];
  const answer: typeof fetch = async (input) => {
    if (String(input).endsWith("/snapshot")) {
      const upTo = events.slice(0, heads.shift() ?? 2);
      return Response.json(snapshotOf(reduceAll(emptyContext("c"), upTo)));
    }
    const body = opening("9") + (heads.length === 1 ? gap : "");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const live = new LiveContext(new ParleyApi({ url: "http://x", fetch: answer }), "c", {
    clock: new TestClock(),
  });
  await until(live, ({ context }) => context?.seq === events.at(-1)?.seq);
  const { context } = await until(live, ({ context }) => context?.seq === 2);
  assert.equal(context?.stale, false);
  live.close();
});

test("what is refused for good is an error, and nothing is tried again", async () => {
  let asked = 0;
  const answer: typeof fetch = async () => {
    asked++;
    return new Response(JSON.stringify({ code: "not-found", detail: "no such context" }), {
      status: 404,
    });
  };
  const live = new LiveContext(new ParleyApi({ url: "http://x", fetch: answer }), "c");
  const { error, loading } = await until(live, (state) => state.error !== undefined);
  assert.ok(error instanceof ParleyError && error.code === "not-found");
  assert.deepEqual([loading, asked], [false, 1]);
});

test("a context that was just created is empty at once, and needs no request but its stream", async () => {
  const { events } = new RandomLog(3, 1);
  const server = new FakeServer(events, new Random(3), new TestClock());
  const asked: string[] = [];
  const answer: typeof fetch = (input, init) => {
    asked.push(new URL(String(input)).pathname);
    return server.fetch(input, init);
  };
  const api = new ParleyApi({ url: "http://x", fetch: answer });
  const live = new LiveContext(api, "c", {
    clock: new TestClock(),
    from: "recent",
    created: true,
    filter: { internal: true },
  });
  assert.equal(live.get().loading, false);
  assert.equal(live.get().context?.seq, 0);
  const { context } = await until(live, ({ context }) => context?.seq === events.at(-1)?.seq);
  live.close();
  assert.deepEqual(
    context && shownOf(view(context)),
    shownOf(view(reduceAll(emptyContext("c"), events))),
  );
  assert.deepEqual([...new Set(asked)], ["/api/contexts/c/stream"]);
});
