import assert from "node:assert/strict";
import { test } from "node:test";
import { EventLog, eventLine, EVERYTHING, MATCHES_MAX, ParleyApi } from "../src/index.js";
import { counting, LogServer } from "./log-server.js";
import { RandomLog } from "./random-log.js";
import { seeds } from "./random.js";

function idle(log: EventLog): Promise<void> {
  return new Promise((resolve) => {
    const leave = log.subscribe(() => look());
    const look = (): void => {
      if (!log.get().loading) {
        leave();
        resolve();
      }
    };
    look();
  });
}

test("only what is in sight is loaded, and what is out of sight for long is forgotten", async () => {
  const server = new LogServer(counting(20_000));
  const log = new EventLog(server.api, "c");
  log.reach(20_004);
  log.want(19_980, 20_004);
  await idle(log);
  assert.equal(log.get().count, 20_004);
  assert.equal(log.row(20_003)?.seq, 20_004);
  assert.equal(log.row(0), undefined);
  assert.equal(server.requests.length, 2, "the rows are on two pages");
  for (let first = 0; first < 19_000; first += 200) {
    log.want(first, first + 30);
    await idle(log);
    assert.equal(log.row(first + 29)?.seq, first + 30);
  }
  assert.equal(log.row(300), undefined, "forgotten");
  log.want(300, 330);
  await idle(log);
  assert.equal(log.row(300)?.seq, 301);
});

test("it grows with the log, also in the middle of a page", async () => {
  const all = counting(500);
  const server = new LogServer(all.slice(0, 90));
  const log = new EventLog(server.api, "c");
  log.reach(90);
  log.want(60, 120);
  await idle(log);
  server.events = all;
  log.reach(230);
  log.want(190, 230);
  await idle(log);
  for (let row = 190; row < 230; row++) {
    assert.equal(log.row(row)?.seq, row + 1);
  }
  assert.equal(log.indexOf(200), 199);
  log.reach(100);
  assert.equal(log.get().count, 100, "the past has no more");
});

test("EVENT-55: filters by kind, task, words and internal find all that fit, in order", async () => {
  for (const seed of seeds(5)) {
    const server = new LogServer(new RandomLog(seed, 5).events);
    const head = server.events.at(-1)?.seq ?? 0;
    const log = new EventLog(server.api, "c");
    log.reach(head);
    const taskId = server.events.find((event) => event.taskId !== undefined)?.taskId;
    for (const [filter, fits] of [
      [{ kinds: ["tool-start"] }, (e: (typeof server.events)[number]) => e.kind === "tool-start"],
      [{ taskId }, (e: (typeof server.events)[number]) => e.taskId === taskId],
      [
        { text: "WÖRLD" },
        (e: (typeof server.events)[number]) => JSON.stringify(e).toLowerCase().includes("wörld"),
      ],
      [{ internal: true }, () => true],
    ] as const) {
      log.choose({ ...EVERYTHING, ...filter });
      await idle(log);
      const internal = "internal" in filter;
      const wanted = server.events.filter((e) => (internal || e.k === undefined) && fits(e));
      assert.equal(log.get().count, wanted.length);
      assert.deepEqual(
        wanted.map((_, i) => log.row(i)?.eventId),
        wanted.map((event) => event.eventId),
      );
    }
  }
});

test("a filter that too many fit is cut, and says so", async () => {
  const server = new LogServer(counting(MATCHES_MAX + 2_000));
  const log = new EventLog(server.api, "c");
  log.reach(MATCHES_MAX + 2_004);
  log.choose({ ...EVERYTHING, kinds: ["content-delta"] });
  await idle(log);
  assert.equal(log.get().count, MATCHES_MAX);
  assert.equal(log.get().cut, true);
});

test("every event has a line, in one line", () => {
  for (const seed of seeds(5)) {
    for (const event of new RandomLog(seed, 5).events) {
      const line = eventLine(event);
      assert.doesNotMatch(line, /\n/);
      assert.ok(line.length <= 161);
    }
  }
});

/** An API whose first matching response is held until it is released. */
function holding(server: LogServer, such: (query: URLSearchParams) => boolean) {
  const { promise: asked, resolve: ask } = deferred();
  const { promise: free, resolve: letGo } = deferred();
  let held = false;
  const api = new ParleyApi({
    url: "http://x",
    fetch: async (input, init) => {
      const answer = await server.api.http.request({
        path: String(input).slice("http://x".length),
      });
      if (!held && such(new URL(String(input)).searchParams)) {
        held = true;
        ask();
        await free;
      }
      init?.signal?.throwIfAborted();
      return answer;
    },
  });
  return { api, asked, letGo };
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

test("a page that is forgotten while the rest of it comes is read again, in order", async () => {
  const all = counting(20_000);
  const server = new LogServer(all.slice(0, 90));
  const { api, asked, letGo } = holding(server, (query) => query.get("after") === "90");
  const log = new EventLog(api, "c");
  log.reach(90);
  log.want(0, 90);
  await idle(log);
  server.events = all;
  log.reach(all.length);
  await asked;
  for (let first = 1_000; first < 15_000; first += 200) {
    log.want(first, first + 30);
    while (log.row(first) === undefined) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  assert.equal(log.row(0), undefined, "forgotten");
  log.want(0, 150);
  letGo();
  await idle(log);
  for (let row = 0; row < 150; row++) {
    assert.equal(log.row(row)?.seq, row + 1);
  }
  log.close();
});

test("what the log grows by while it is looked through is looked through too", async () => {
  const all = counting(300);
  const server = new LogServer(all.slice(0, 100));
  const { api, asked, letGo } = holding(server, () => true);
  const log = new EventLog(api, "c");
  log.reach(100);
  log.choose({ ...EVERYTHING, kinds: ["content-delta"] });
  await asked;
  server.events = all;
  log.reach(all.length);
  letGo();
  await idle(log);
  assert.equal(log.get().scannedTo, all.length);
  assert.equal(log.get().count, 300);
  log.close();
});
