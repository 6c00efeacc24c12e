import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ContextState,
  fromSnapshot,
  ParleyApi,
  type ParleyEvent,
  reduceAll,
  TraceHistory,
  view,
  waterfallOf,
} from "../src/index.js";
import { TestClock } from "./fake-server.js";
import { LogServer } from "./log-server.js";
import { RandomLog } from "./random-log.js";
import { Random, seeds } from "./random.js";
import { snapshotOf } from "./snapshot-of.js";

function loaded(history: TraceHistory): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!history.get().loading) {
        stop();
        resolve();
      }
    };
    const stop = history.subscribe(look);
    look();
  });
}

/** The context as a page has it that loads only the events after `base`. */
function recent(server: LogServer, base: number): ContextState {
  const after = server.events.filter((event) => event.seq > base);
  return reduceAll(fromSnapshot(snapshotOf(server.at(base))), after);
}

const rowsOf = (context: ContextState) => waterfallOf(view(context)).rows;

const EVENTS_PER_TASK = 28;

/** Many short tasks, each with a model call and a tool call; texts in many pieces. */
function longLog(tasks: number): ParleyEvent[] {
  const events: ParleyEvent[] = [];
  let seq = 0;
  const add = (fields: Record<string, unknown>): void => {
    seq += fields["k"] === undefined ? 1 : 0;
    const timestamp = new Date(events.length).toISOString();
    const place = { contextId: "c", eventId: `e${events.length}`, seq, timestamp };
    events.push({ ...place, ...fields } as unknown as ParleyEvent);
  };
  add({ kind: "context-created", owner: "local" });
  for (let i = 0; i < tasks; i++) {
    const of = { taskId: `t${i}`, rootTaskId: `t${i}`, agentId: "a" };
    const call = { toolCallId: `c${i}`, toolName: "read_file" };
    add({ kind: "message", messageId: `m${i}`, role: "user", content: "go" });
    add({ ...of, kind: "task-created", initiator: "user", messageId: `m${i}` });
    add({ ...of, kind: "task-status", status: "working" });
    add({ ...of, kind: "internal:llm-call", k: 1, iteration: 1, model: "m" });
    for (let index = 0; index < 20; index++) {
      add({ ...of, kind: "content-delta", blockId: `b${i}`, index, delta: "word " });
    }
    add({ ...of, kind: "content-complete", blockId: `b${i}`, content: "word ".repeat(20) });
    add({ ...of, kind: "usage", model: "m", inputTokens: 3, outputTokens: 4 });
    add({ ...of, kind: "tool-start", ...call, arguments: { path: "x".repeat(500) } });
    add({ ...of, kind: "tool-complete", ...call, success: true, result: "y".repeat(500) });
    add({ ...of, kind: "task-complete", content: "z".repeat(500) });
  }
  return events;
}

test("with its history, a context has the trace of one whose events are all loaded", async () => {
  let compared = 0;
  for (const seed of seeds(20)) {
    const random = new Random(seed);
    const server = new LogServer(new RandomLog(seed, 4).events);
    const head = server.events.at(-1)?.seq ?? 0;
    const history = new TraceHistory(server.api, "c");
    for (let i = 0; i < 20; i++) {
      const base = 1 + random.int(head);
      const context = recent(server, base);
      history.reach(base);
      await loaded(history);
      if (!context.stale) {
        const complete = rowsOf(history.complete(context));
        assert.deepEqual(complete, rowsOf(server.at(Infinity)), `seed ${seed}, base ${base}`);
        compared++;
      }
    }
  }
  assert.ok(compared > 100, `${compared}`);
});

test("only steps are loaded, page by page, and without their texts", async () => {
  const server = new LogServer(longLog(300));
  const base = (server.events.at(-1)?.seq ?? 0) - 4 * EVENTS_PER_TASK;
  const context = recent(server, base);
  const without = rowsOf(context).filter((row) => row.kind !== "task").length;
  assert.ok(without < 10, "few steps are known before");
  server.requests.length = 0;
  const history = new TraceHistory(server.api, "c");
  history.reach(base);
  await loaded(history);
  assert.deepEqual(rowsOf(history.complete(context)), rowsOf(server.at(Infinity)));
  assert.equal(server.requests.length, 3, server.requests.join("\n"));
  const { events } = history.get();
  assert.ok(events.every((event) => event.kind !== "content-delta"));
  assert.ok(events.every((event) => JSON.stringify(event).length < 300));
  history.reach(base);
  history.reach(base - 1_000);
  await loaded(history);
  assert.equal(server.requests.length, 3, "what is loaded is not loaded again");
});

test("a context with all its events, and unchanged tasks, stay the same objects", async () => {
  const server = new LogServer(longLog(4));
  const base = 40;
  const history = new TraceHistory(server.api, "c");
  history.reach(base);
  await loaded(history);
  const whole = server.at(Infinity);
  assert.equal(history.complete(whole), whole);
  const [first, second] = [recent(server, base), recent(server, base)];
  const tasks = { ...first.tasks };
  const [a, b] = [history.complete(first), history.complete({ ...second, tasks })];
  assert.equal(a.tasks["t0"], b.tasks["t0"]);
});

test("a temporary failure is retried, another is reported, and there is a limit", async () => {
  const server = new LogServer(longLog(300));
  const failures = [503, 503, 403];
  const api = new ParleyApi({
    url: "http://x",
    fetch: async (input, init) => {
      const status = failures.shift();
      return status === undefined
        ? server.api.http.request({
            path: String(input).slice("http://x".length),
            ...init,
          } as never)
        : Response.json({ status, code: "no", detail: "not now" }, { status });
    },
  });
  const clock = new TestClock();
  const history = new TraceHistory(api, "c", { clock, eventsMax: 1_500 });
  history.reach(8_000);
  await loaded(history);
  assert.equal(history.get().error?.message, "not now");
  assert.equal(clock.slept.length, 2);
  history.reach(8_000);
  await loaded(history);
  assert.equal(history.get().error, undefined);
  assert.deepEqual([history.get().cut, history.get().events.length], [true, 2_000]);
});
