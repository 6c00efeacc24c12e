import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ConnectionState,
  ParleyApi,
  ParleyError,
  type ParleyEvent,
  streamContext,
  type StreamGap,
  type StreamOptions,
  TaskStream,
} from "../src/index.js";
import { RandomLog } from "./random-log.js";
import { Random, seeds } from "./random.js";
import { type Fault, frame, opening, FakeServer, TestClock } from "./fake-server.js";

interface Setup {
  readonly clock: TestClock;
  readonly server: FakeServer;
  readonly states: ConnectionState[];
  read(options?: StreamOptions): Promise<ParleyEvent[]>;
}

function setup(log: readonly ParleyEvent[], random = new Random(1), faults: Fault[] = []): Setup {
  const clock = new TestClock();
  const server = new FakeServer(log, random, clock);
  server.faults = faults;
  const states: ConnectionState[] = [];
  const api = new ParleyApi({ url: "http://stand.in", fetch: server.fetch });
  const read = async (options: StreamOptions = {}): Promise<ParleyEvent[]> => {
    const onState = (state: ConnectionState): void => void states.push(state);
    const times = { clock, random: () => random.next(), onState };
    const stream = streamContext(api, "c", { ...times, ...options });
    const seen: ParleyEvent[] = [];
    for await (const event of stream) {
      seen.push(event);
      if (event.eventId === log.at(-1)?.eventId) {
        break;
      }
    }
    return seen;
  };
  return { clock, server, states, read };
}

/** Events without gaps, in log order. */
const LOG = new RandomLog(7, 3).events;

test("a reader gets every event once, however the bytes are cut and the connection breaks", async () => {
  for (const seed of seeds(25)) {
    const random = new Random(seed);
    const faults = Array.from({ length: random.int(8) }, (): Fault => {
      const repeat = random.int(4);
      return random.pick<Fault>([
        { cutAt: random.int(6000), repeat },
        { silentAt: random.int(6000) },
        { refuse: random.pick([0, 503, 429]) },
        { drop: random.int(20), repeat },
      ]);
    });
    const { read, states } = setup(LOG, random, faults);
    assert.deepEqual(await read({ filter: { internal: true } }), LOG, `seed ${seed}`);
    assert.equal(states.at(-1)?.status, "closed");
  }
});

test("a cut at every byte loses nothing and repeats nothing", async () => {
  const log = LOG.slice(0, 2);
  const length = new TextEncoder().encode(
    opening("0", log.length) + log.map(frame).join(""),
  ).length;
  for (let cutAt = 0; cutAt < length; cutAt++) {
    const { read } = setup(log, new Random(cutAt), [{ cutAt }]);
    assert.deepEqual(await read(), log, `cut at ${cutAt}`);
  }
});

test("after a cut it asks for what follows the last event it gave", async () => {
  const first = frame(LOG[0] as ParleyEvent).length + opening("0", LOG.length).length;
  const { read, server } = setup(LOG, new Random(1), [{ cutAt: first }]);
  await read();
  assert.deepEqual(
    server.requests.map((request) => request.lastEventId),
    ["0", "1"],
  );
});

test("it says how it is doing", async () => {
  const { read, states } = setup(LOG, new Random(1), [{ refuse: 503 }, { cutAt: 2000 }]);
  await read();
  const seen = states
    .map((state) => state.status)
    .filter((status, i, all) => status !== all[i - 1]);
  assert.deepEqual(seen, [
    "connecting",
    "waiting",
    "connecting",
    "live",
    "waiting",
    "connecting",
    "live",
    "closed",
  ]);
  const end = states.at(-1) as ConnectionState;
  assert.equal(end.reconnects, 1);
  assert.ok(end.recovered > 0 && end.recovered < LOG.length);
  assert.equal(end.lagMs, 0, "what is past is not late");
  const waiting = states.filter((state) => state.status === "waiting");
  assert.equal(waiting[0]?.reason, "not now");
  assert.ok((waiting[0]?.retryInMs ?? 0) > 0);
});

test("waits grow, up to a limit, and are never shorter than what the server asked for", async () => {
  const refused = Array.from({ length: 12 }, () => ({ refuse: 503 }));
  const { read, clock } = setup(LOG, new Random(1), [...refused, { cutAt: 200 }]);
  await read({ backoff: { firstMs: 100, maxMs: 2000 } });
  const waits = clock.slept;
  assert.equal(waits.length, 13);
  assert.ok((waits[0] ?? 0) <= 100 && (waits[3] ?? 0) > 300 && waits.every((wait) => wait <= 2000));
  assert.ok((waits[12] ?? 0) >= 1000, "the stream said retry: 1000");
});

test("what the server refuses for good is thrown, and what passes is not", async () => {
  const { read, states } = setup(LOG, new Random(1), [{ refuse: 500 }, { refuse: 404 }]);
  await assert.rejects(read(), (error: ParleyError) => error.status === 404 && error.code === "no");
  assert.equal(states.at(-1)?.status, "closed");
});

test("it gives up after as many failures in a row as it may", async () => {
  const faults = Array.from({ length: 9 }, () => ({ refuse: 0 }));
  const { read, server } = setup(LOG, new Random(1), faults);
  await assert.rejects(
    read({ failuresMax: 3 }),
    (error: ParleyError) => error.code === "unreachable",
  );
  assert.equal(server.requests.length, 4);
});

test("a server that leaves the same event out again and again is a gap", async () => {
  const faults = Array.from({ length: 9 }, () => ({ drop: 0 }));
  const { read } = setup(LOG, new Random(1), faults);
  await assert.rejects(read(), (error: StreamGap) => error.reason === "missing");
});

test("a gap that the server tells of is thrown, with where the log stands", async () => {
  const gap =
    'event: stream-gap\ndata: {"kind":"stream-gap","reason":"ahead-of-head","position":4}\n\n';
  const answer = async (): Promise<Response> =>
    new Response(opening("9") + gap, { headers: { "content-type": "text/event-stream" } });
  const stream = streamContext(new ParleyApi({ url: "http://x", fetch: answer }), "c", {
    after: 9,
  });
  await assert.rejects(
    async () => {
      for await (const event of stream) {
        assert.fail(event.kind);
      }
    },
    (error: StreamGap) => error.reason === "ahead-of-head" && error.position === 4,
  );
});

test("heartbeats move the cursor of a filtered reader, and tell others that something is missing", async () => {
  const beat = "id: 12\n: heartbeat\n\n";
  const bodies = [
    opening("0") + beat,
    opening("12") + frame({ ...(LOG[0] as ParleyEvent), seq: 20 }),
  ];
  const asked: (string | null)[] = [];
  const answer: typeof fetch = async (_, init) => {
    asked.push(new Headers(init?.headers).get("last-event-id"));
    return new Response(bodies.shift() ?? "", { headers: { "content-type": "text/event-stream" } });
  };
  const api = new ParleyApi({ url: "http://x", fetch: answer });
  for await (const event of streamContext(api, "c", {
    filter: { kinds: ["message"] },
    clock: new TestClock(),
  })) {
    assert.equal(event.seq, 20);
    break;
  }
  assert.deepEqual(asked, ["0", "12"]);
});

test("closing ends the reading at once, also while it waits", async () => {
  const leave = new AbortController();
  const { read, server } = setup(LOG.slice(0, 3), new Random(1));
  const onState = (state: ConnectionState): void => {
    if (state.status === "live") {
      leave.abort();
    }
  };
  const seen = await read({ signal: leave.signal, onState });
  assert.ok(seen.length < 3);
  assert.equal(server.requests.length, 1);
});

test("a page that is no stream is refused", async () => {
  const answer = async (): Promise<Response> =>
    new Response("<html>", { headers: { "content-type": "text/html" } });
  const stream = streamContext(new ParleyApi({ url: "http://x", fetch: answer }), "c");
  await assert.rejects(async () => {
    for await (const event of stream) {
      assert.fail(event.kind);
    }
  }, ParleyError);
});

test("a message that is answered with a stream is sent once and read to the end of its task", async () => {
  const accepted = { contextId: "c", messageId: "m", taskId: "t", seq: 2 };
  const envelope = {
    contextId: "c",
    taskId: "t",
    rootTaskId: "t",
    timestamp: "2026-11-15T10:00:00Z",
  };
  const of = (seq: number, fields: object): string =>
    frame({ ...envelope, seq, eventId: `e${seq}`, ...fields } as ParleyEvent);
  const open = `id: 2\nevent: stream-open\ndata: ${JSON.stringify({ kind: "stream-open", ...accepted, heartbeatMs: 15000 })}\n\n`;
  const delta = (seq: number, text: string): string =>
    of(seq, { kind: "content-delta", delta: text, index: 0 });
  const bodies = [
    new TypeError("fetch failed"),
    open + delta(4, "Hello") + delta(5, ", "),
    opening("5", 8) +
      delta(6, "wörld") +
      of(7, { kind: "task-complete", content: "Hello, wörld" }) +
      delta(8, "!"),
  ];
  const requests: (string | null | undefined)[][] = [];
  const answer: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    requests.push([
      init?.method,
      new URL(String(input)).search,
      headers.get("idempotency-key"),
      headers.get("last-event-id"),
    ]);
    const body = bodies.shift();
    if (body instanceof Error || body === undefined) {
      throw body;
    }
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const api = new ParleyApi({ url: "http://x", fetch: answer });
  const stream = await TaskStream.send(
    api,
    "c",
    { content: "hello" },
    { idempotencyKey: "k", clock: new TestClock() },
  );
  assert.deepEqual(stream.accepted, accepted);
  assert.equal(await stream.text(), "Hello, wörld");
  assert.equal(stream.outcome, "completed");
  assert.deepEqual(requests, [
    ["POST", "", "k", null],
    ["POST", "", "k", null],
    ["GET", "?rootTaskId=t", null, "5"],
  ]);
});
