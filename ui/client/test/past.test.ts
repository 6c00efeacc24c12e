import assert from "node:assert/strict";
import { test } from "node:test";
import { ParleyApi, Past, type PastState, view } from "../src/index.js";
import { counting, LogServer } from "./log-server.js";
import { RandomLog } from "./random-log.js";
import { Random, seeds } from "./random.js";
import { shownOf } from "./snapshot-of.js";
import { TestClock } from "./fake-server.js";

function there(past: Past): Promise<PastState> {
  return new Promise((resolve) => {
    const leave = past.subscribe(() => look());
    const look = (): void => {
      if (!past.get().loading) {
        leave();
        resolve(past.get());
      }
    };
    look();
  });
}

test("SESSION-27: the past after any event is what somebody saw who watched it then", async () => {
  for (const seed of seeds(10)) {
    const random = new Random(seed);
    const server = new LogServer(new RandomLog(seed, 4).events);
    const head = server.events.at(-1)?.seq ?? 0;
    const past = new Past(server.api, "c");
    for (let i = 0; i < 40; i++) {
      const at = 1 + random.int(head);
      past.go(at);
      const { context, error } = await there(past);
      assert.equal(error, undefined);
      assert.deepEqual(context, server.at(at), `seed ${seed}, event ${at}`);
    }
    past.go(undefined);
    assert.equal(past.get().context, undefined);
    assert.ok(server.requests.length <= 2, "what was read is kept");
  }
});

test("a long past begins with a snapshot, and shows the same", async () => {
  const server = new LogServer(counting(13_000));
  const past = new Past(server.api, "c");
  for (const at of [12_500, 12_490, 9_000, 300, 12_900]) {
    past.go(at);
    const { context } = await there(past);
    assert.ok(context !== undefined && context.seq === at);
    assert.deepEqual(shownOf(view(context)), shownOf(view(server.at(at))));
  }
  assert.ok(server.requests.some((path) => path.includes("/snapshot?at=8500")));
});

test("whoever drags gets to where they are now, and nowhere else", async () => {
  const server = new LogServer(counting(3_000));
  const past = new Past(server.api, "c");
  const seen = new Set<number>();
  past.subscribe(() => seen.add(past.get().context?.seq ?? 0));
  for (let at = 100; at <= 2_900; at += 100) {
    past.go(at);
  }
  const { context } = await there(past);
  assert.equal(context?.seq, 2_900);
  assert.ok(seen.size <= 3, [...seen].join());
});

test("a past that cannot be had says why, and can be left", async () => {
  const server = new LogServer(counting(10));
  const past = new Past(server.api, "c");
  server.events = [];
  past.go(5);
  const { context } = await there(past);
  assert.equal(context?.seq, 0);
  past.go(undefined);
  assert.deepEqual(past.get(), {
    at: undefined,
    beyond: undefined,
    context: undefined,
    loading: false,
    error: undefined,
  });
});

test("whoever asks for what has not happened gets the last, and is told so", async () => {
  for (const numbers of [8, 13_000]) {
    const server = new LogServer(counting(numbers));
    const head = numbers + 4;
    const past = new Past(server.api, "c");
    for (const wanted of [head + 1, 9_999_999]) {
      past.go(wanted);
      const { at, beyond, context, error } = await there(past);
      assert.deepEqual([at, beyond, context?.seq, error], [head, wanted, head, undefined]);
    }
    past.go(head);
    past.go(head - 1);
    assert.equal((await there(past)).beyond, undefined);
  }
});

test("a failure that passes is tried again with growing waits, another is said", async () => {
  const server = new LogServer(counting(10));
  const refusals = [503, 0, 503, 403];
  const clock = new TestClock();
  const api = new ParleyApi({
    url: "http://x",
    fetch: async (input) => {
      const status = refusals.shift();
      if (status === 0) {
        throw new TypeError("fetch failed");
      }
      return status === undefined
        ? server.api.http.request({ path: String(input).slice("http://x".length) })
        : Response.json({ code: "no", detail: "not now" }, { status });
    },
  });
  const past = new Past(api, "c", { clock, random: () => 0 });
  past.go(5);
  const { at, error } = await there(past);
  assert.deepEqual([at, error?.message], [5, "not now"]);
  assert.deepEqual(clock.slept, [250, 500, 1_000]);
  past.go(5);
  assert.equal((await there(past)).context?.seq, 5, "asked for again");
  assert.equal(past.get().error, undefined);
});
