import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ConnectionState,
  ParleyApi,
  type ParleyEvent,
  streamContext,
  type StreamedEvent,
} from "../src/index.js";
import { Random } from "./random.js";
import { frame, opening, FakeServer, TestClock } from "./fake-server.js";
import { counting } from "./log-server.js";

const MINUTE_MS = 60_000;

interface Arrival {
  /** When the server sent it, relative to the time of the connection; negative for the past. */
  readonly sentMs: number;
  /** The local time of arrival. */
  readonly cameMs: number;
}

/** The lag after each event, on one connection. */
async function lags(arrivals: readonly Arrival[]): Promise<ConnectionState[]> {
  const clock = new TestClock();
  const begin = clock.now();
  const events = counting(arrivals.length).slice(0, arrivals.length);
  const frames = events.map((event, i) => {
    const timestamp = new Date(begin + (arrivals[i]?.sentMs ?? 0)).toISOString();
    return frame({ ...event, timestamp } as ParleyEvent);
  });
  const encoder = new TextEncoder();
  let at = -1;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const text =
          at < 0 ? opening("0", arrivals.filter(({ sentMs }) => sentMs < 0).length) : frames[at];
        // The clock stands at the arrival of the event when the reader asks for more.
        const now = at < 0 ? 0 : (arrivals[at]?.cameMs ?? 0);
        await clock.sleep(begin + now - clock.now());
        at++;
        controller.enqueue(encoder.encode(text));
      },
    },
    { highWaterMark: 0 },
  );
  const answer = new Response(body, { headers: { "content-type": "text/event-stream" } });
  const api = new ParleyApi({ url: "http://x", fetch: async () => answer });
  const states: ConnectionState[] = [];
  const stream = streamContext(api, "c", { clock });
  for await (const _ of stream) {
    states.push(stream.state);
    if (states.length === arrivals.length) {
      break;
    }
  }
  return states;
}

const lagOf = async (arrivals: readonly Arrival[]) =>
  (await lags(arrivals)).map((state) => state.lagMs);

test("what happened before the connection was there is not late", async () => {
  assert.deepEqual(
    await lagOf([
      { sentMs: -44 * MINUTE_MS, cameMs: 1 },
      { sentMs: -43 * MINUTE_MS, cameMs: 2 },
    ]),
    [0, 0],
  );
});

test("a live event is as late as it is slower than the fastest", async () => {
  assert.deepEqual(
    await lagOf([
      { sentMs: -MINUTE_MS, cameMs: 5 },
      { sentMs: 100, cameMs: 110 },
      { sentMs: 200, cameMs: 3_210 },
      { sentMs: 4_000, cameMs: 4_010 },
    ]),
    [0, 0, 3_000, 0],
  );
});

test("a server whose clock is behind, or ahead, is not late for it", async () => {
  assert.deepEqual(
    await lagOf([
      { sentMs: 10, cameMs: 5_010 },
      { sentMs: 1_000, cameMs: 6_000 },
      { sentMs: 2_000, cameMs: 9_000 },
    ]),
    [0, 0, 2_000],
  );
  assert.deepEqual(
    await lagOf([
      { sentMs: 5_010, cameMs: 10 },
      { sentMs: 6_000, cameMs: 1_000 },
      { sentMs: 7_000, cameMs: 4_000 },
    ]),
    [0, 0, 2_000],
  );
});

test("a wait says whether a server was there to refuse", async () => {
  const clock = new TestClock();
  const log = counting(3);
  const server = new FakeServer(log, new Random(1), clock);
  server.faults = [{ refuse: 503 }, { refuse: 0 }, { refuse: 429 }, { cutAt: 200 }];
  const api = new ParleyApi({ url: "http://x", fetch: server.fetch });
  const states: ConnectionState[] = [];
  const onState = (state: ConnectionState): void => void states.push(state);
  for await (const event of streamContext(api, "c", { clock, onState })) {
    if (event.seq === log.length) {
      break;
    }
  }
  assert.deepEqual(
    states.filter((state) => state.status === "waiting").map((state) => state.unreachable),
    [false, true, false, true],
  );
  assert.ok(states.every((state) => state.status === "waiting" || !("unreachable" in state)));
});

test("a merged event that ends after the connection was opened was recovered up to there", async () => {
  const clock = new TestClock();
  const [first, ...rest] = counting(3).slice(0, 6);
  const last = rest.at(-1) as ParleyEvent;
  // The clocks say nothing: the merged event has the time of its last part.
  const timestamp = new Date(clock.now() + MINUTE_MS).toISOString();
  const merged: StreamedEvent = { ...last, fromSeq: 2, timestamp };
  const bodies = [
    opening("0", 1) + frame(first as ParleyEvent),
    opening("1", last.seq - 1) + frame(merged),
  ];
  const fetch = async () =>
    new Response(bodies.shift(), { headers: { "content-type": "text/event-stream" } });
  const api = new ParleyApi({ url: "http://x", fetch });
  const stream = streamContext(api, "c", { clock, merge: true });
  for await (const event of stream) {
    if (event.seq === last.seq) {
      break;
    }
  }
  assert.equal(stream.state.recovered, last.seq - 2);
});
