import assert from "node:assert/strict";
import { test } from "node:test";
import { EventDetails, EventLog, type ParleyEvent } from "../src/index.js";
import { LogServer } from "./log-server.js";

const TASK = { taskId: "t", rootTaskId: "t", agentId: "a" };

function log(): ParleyEvent[] {
  const facts = [
    { seq: 1, kind: "context-created", owner: "local" },
    { seq: 2, ...TASK, kind: "task-created", initiator: "user" },
    { seq: 2, k: 1, ...TASK, kind: "internal:llm-call", iteration: 1, model: "m" },
    { seq: 2, k: 2, ...TASK, kind: "internal:checkpoint", iteration: 1 },
    { seq: 3, ...TASK, kind: "task-status", status: "working" },
  ];
  return facts.map((fields, i) => {
    const timestamp = new Date(i).toISOString();
    return { contextId: "c", eventId: `e${i}`, timestamp, ...fields } as unknown as ParleyEvent;
  });
}

function opened(): { server: LogServer; details: EventDetails } {
  const server = new LogServer(log());
  return { server, details: new EventDetails(server.api, "c") };
}

test("the details are those of the event at the position, public or internal", async () => {
  const { server, details } = opened();
  for (const event of server.events) {
    await details.load({ seq: event.seq, k: event.k ?? 0 });
    assert.deepEqual(details.get().event, event);
  }
  details.show(server.events[0]);
  assert.deepEqual(details.get().at, { seq: 1, k: 0 });
  details.show(undefined);
  assert.equal(details.get().at, undefined);
});

test("the last choice wins, even if an earlier one loads longer", async () => {
  const { server, details } = opened();
  const slow = details.load({ seq: 2, k: 1 });
  details.show(server.events[0]);
  await slow;
  assert.equal(details.get().event?.kind, "context-created");
  await Promise.all([details.load({ seq: 2, k: 1 }), details.load({ seq: 3, k: 0 })]);
  assert.equal(details.get().event?.kind, "task-status");
});

test("an event that does not exist, or cannot be loaded, is reported", async () => {
  const { server, details } = opened();
  await details.load({ seq: 2, k: 7 });
  assert.match(details.get().error?.message ?? "", /does not exist/);
  server.events = [];
  await details.load({ seq: 2, k: 1 });
  assert.equal(details.get().event, undefined);
});

test("a log lists internal events only if its filter selects them", async () => {
  const { server } = opened();
  const events = new EventLog(server.api, "c");
  events.reach(3);
  assert.deepEqual(
    [events.lists(2, 0), events.lists(2, 1), events.lists(4, 0)],
    [true, false, false],
  );
  events.choose({ kinds: [], taskId: undefined, text: "", internal: true });
  while (events.get().loading) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(
    [
      [2, 0],
      [2, 1],
      [2, 2],
      [3, 0],
    ].map(([seq = 0, k = 0]) => [events.indexOf(seq, k), events.lists(seq, k)]),
    [
      [1, true],
      [2, true],
      [3, true],
      [4, true],
    ],
  );
});
