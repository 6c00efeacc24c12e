import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ContextView,
  emptyContext,
  selectionOfEvent,
  selectionOfRow,
  selectionOfSpan,
  isSelected,
  type ParleyEvent,
  reduceAll,
  rowsOf,
  view,
  waterfallOf,
} from "../src/index.js";
import { RandomLog } from "./random-log.js";
import { seeds } from "./random.js";

type Fields = Record<string, unknown> & { kind: string; at: number };

const ROOT = { taskId: "t", rootTaskId: "t", agentId: "lead" };
const CHILD = { taskId: "u", parentTaskId: "t", rootTaskId: "t", agentId: "helper" };
const SPAWNED = { ...CHILD, spawnedByCallId: "call" };
const CALL = { toolCallId: "call", toolName: "subagents" };
// Most input tokens are cached, and `inputTokens` excludes them.
const CACHED = { cacheCreationInputTokens: 2, cacheReadInputTokens: 3 };
const MONEY = { inputTokens: 5, ...CACHED, outputTokens: 5, costUsd: 0.25 };

/** A task with a model call and a sub-agent that has one too; an hour later, another task. */
const FACTS: readonly Fields[] = [
  { at: 0, kind: "context-created", owner: "local" },
  { at: 0, kind: "message", messageId: "m", role: "user", content: "go" },
  { at: 0, ...ROOT, kind: "task-created", initiator: "user", messageId: "m" },
  { at: 0, ...ROOT, kind: "task-status", status: "working" },
  { at: 10, ...ROOT, kind: "internal:llm-call", k: 1, iteration: 1, model: "big" },
  { at: 20, ...ROOT, kind: "content-delta", blockId: "b", index: 0, delta: "I ask." },
  { at: 30, ...ROOT, kind: "content-complete", blockId: "b", content: "I ask." },
  { at: 31, ...ROOT, kind: "usage", model: "big", ...MONEY },
  { at: 40, ...ROOT, kind: "tool-start", ...CALL, arguments: {} },
  { at: 40, ...SPAWNED, kind: "task-created", initiator: "agent", prompt: "help" },
  { at: 50, ...SPAWNED, kind: "usage", model: "small", ...MONEY },
  { at: 60, ...SPAWNED, kind: "task-status", status: "failed" },
  { at: 70, ...ROOT, kind: "tool-complete", ...CALL, success: true },
  { at: 100, ...ROOT, kind: "task-status", status: "completed" },
  { at: 3_600_000, kind: "message", messageId: "n", role: "user", content: "on" },
  {
    at: 3_600_000,
    kind: "task-created",
    taskId: "v",
    rootTaskId: "v",
    agentId: "lead",
    initiator: "user",
    messageId: "n",
  },
  { at: 3_600_100, taskId: "v", kind: "task-status", status: "working" },
];

function events(): ParleyEvent[] {
  let seq = 0;
  return FACTS.map(({ at, ...fields }) => {
    seq += fields["k"] === undefined ? 1 : 0;
    const place = { contextId: "c", eventId: `${seq}`, seq };
    const timestamp = new Date(at).toISOString();
    return { ...place, timestamp, ...fields } as unknown as ParleyEvent;
  });
}

function shown(): ContextView {
  return view(reduceAll(emptyContext("c"), events()));
}

test("WORKFLOW-18: tasks, model calls and tools stand where they began, with time, tokens and cost", () => {
  const { rows, axis } = waterfallOf(shown());
  assert.deepEqual(
    rows.map(({ kind, label, depth, start, end, tokens, costUsd, status }) => [
      `${"  ".repeat(depth)}${kind} ${label}`,
      start,
      end,
      tokens,
      costUsd,
      status,
    ]),
    [
      ["task lead", 0, 100, 30, 0.5, "done"],
      ["  model big", 10, 30, 15, 0.25, "done"],
      ["  tool subagents", 40, 70, undefined, undefined, "done"],
      ["    task helper", 40, 60, 15, 0.25, "failed"],
      ["      model small", 50, 50, 15, 0.25, "done"],
      ["task lead", 3_600_000, 3_600_100, undefined, undefined, "open"],
    ],
  );
  assert.equal(axis.length, 200, "an hour in which nobody worked is not drawn");
  assert.deepEqual(
    [0, 50, 100, 1_000_000, 3_600_000, 3_600_050, 9_999_999].map((time) => axis.at(time)),
    [0, 0.25, 0.5, 0.5, 0.5, 0.75, 1],
  );
  assert.deepEqual(axis.cuts, [0.5]);
});

test("open tasks, model calls and tool calls last until now; ended ones do not grow", () => {
  const log = events();
  const open = log.filter((event) => event.seq <= 9 && event.kind !== "usage");
  const now = 7_000;
  const ends = (all: readonly ParleyEvent[], time?: number) =>
    waterfallOf(view(reduceAll(emptyContext("c"), all)), undefined, time).rows.map(
      ({ kind, status, end }) => `${kind} ${status} ${end}`,
    );
  assert.deepEqual(ends(open.slice(0, 5), now), ["task open 7000", "model open 7000"]);
  assert.deepEqual(ends(open, now), [
    "task open 7000",
    "model done 30",
    "tool open 7000",
    "task waiting 7000",
  ]);
  assert.deepEqual(ends(open.slice(0, 5)), ["task open 10", "model open 10"]);
  assert.deepEqual(ends(open.slice(0, 5), 1), ["task open 10", "model open 10"], "a slow clock");
  assert.deepEqual(ends(log.slice(0, 14), now), ends(log.slice(0, 14)));
});

test("a retry is at the model call that it repeats, or at its task", () => {
  const reason = { attempt: 2, maxAttempts: 5, delayMs: 1, reason: "overloaded" };
  const log = events().slice(0, 7);
  const status = { ...log[3], metadata: { retry: reason } } as ParleyEvent;
  const retries = (all: readonly ParleyEvent[]) => {
    const events = [...all, { ...status, seq: (all.at(-1)?.seq ?? 0) + 1 }];
    const { rows } = waterfallOf(view(reduceAll(emptyContext("c"), events)));
    return rows.map(({ kind, retry }) => [kind, retry]);
  };
  const text = "Retrying (2 of 5): overloaded";
  assert.deepEqual(retries(log.slice(0, 5)), [
    ["task", undefined],
    ["model", text],
  ]);
  assert.deepEqual(retries(log), [
    ["task", text],
    ["model", undefined],
  ]);
});

test("what was stopped has not failed", () => {
  const of = { ...ROOT, contextId: "c", eventId: "x", timestamp: new Date(0).toISOString() };
  const log = [
    { seq: 1, ...of, kind: "task-created", initiator: "user" },
    { seq: 2, ...of, kind: "tool-start", toolCallId: "a", toolName: "shell", arguments: {} },
    { seq: 3, ...of, kind: "tool-start", toolCallId: "b", toolName: "shell", arguments: {} },
    { seq: 4, ...of, kind: "tool-complete", toolCallId: "a", success: false, outcome: "canceled" },
    { seq: 5, ...of, kind: "tool-complete", toolCallId: "b", success: false, error: "no" },
    { seq: 6, ...of, kind: "task-status", status: "canceled" },
  ] as unknown as ParleyEvent[];
  const { rows } = waterfallOf(view(reduceAll(emptyContext("c"), log)));
  assert.deepEqual(
    rows.map(({ kind, status }) => `${kind} ${status}`),
    ["task stopped", "tool stopped", "tool failed"],
  );
});

test("what is folded hides what is below it, and nothing else", () => {
  const all = waterfallOf(shown());
  const { rows, axis } = waterfallOf(shown(), new Set(["call-call", "model-t-4.1"]));
  assert.deepEqual(
    rows.map((row) => row.label),
    ["lead", "big", "subagents", "lead"],
  );
  assert.deepEqual([rows[2]?.folded, rows[2]?.below, rows[1]?.folded], [true, 2, false]);
  assert.equal(axis.length, all.axis.length);
});

test("an event, its span and its row of the conversation know each other", () => {
  const seen = shown();
  const { rows } = waterfallOf(seen);
  const log = events();
  const delta = log.find((event) => event.kind === "content-delta");
  const started = log.find((event) => event.kind === "tool-start");
  assert.ok(delta !== undefined && started !== undefined);
  const [lead, model, tool] = rows;
  assert.ok(lead !== undefined && model !== undefined && tool !== undefined);
  assert.equal(selectionOfEvent(seen, delta).span, model.key);
  assert.equal(selectionOfEvent(seen, delta).row, "b-b");
  assert.equal(selectionOfSpan(seen, model).row, "b-b");
  assert.equal(selectionOfRow(seen, "b-b")?.span, model.key);
  assert.equal(selectionOfEvent(seen, started).row, "c-call");
  assert.equal(selectionOfSpan(seen, tool).row, "c-call");
  assert.equal(selectionOfRow(seen, "m-m")?.span, lead.key);
  assert.equal(selectionOfRow(seen, "x-nothing"), undefined);
  const pointed = log.filter((event) =>
    isSelected(selectionOfSpan(seen, tool), selectionOfEvent(seen, event)),
  );
  assert.deepEqual(
    pointed.map((event) => event.kind),
    ["tool-start", "tool-complete"],
  );
  const own = log.filter((event) =>
    isSelected(selectionOfSpan(seen, lead), selectionOfEvent(seen, event)),
  );
  assert.ok(own.every((event) => event.taskId === "t") && own.length === 9, `${own.length}`);
});

test("whatever a log holds, every span is there once, and every mark leads somewhere", () => {
  for (const seed of seeds(20)) {
    const log = new RandomLog(seed, 5).events;
    const seen = view(reduceAll(emptyContext("c"), log));
    const { rows, axis } = waterfallOf(seen);
    const keys = new Set(rows.map((row) => row.key));
    assert.equal(keys.size, rows.length);
    for (const row of rows) {
      assert.ok(row.start <= row.end, row.key);
      assert.ok(axis.at(row.start) >= 0 && axis.at(row.end) <= 1);
    }
    const known = new Set(seen.tasks.map((task) => task.taskId));
    for (const event of log.filter((one) => known.has(one.taskId ?? ""))) {
      assert.ok(keys.has(selectionOfEvent(seen, event).span ?? ""), `seed ${seed}, ${event.kind}`);
    }
    for (const row of rowsOf(seen).filter((one) => /^[cbtew]-/.test(one.key))) {
      assert.ok(selectionOfRow(seen, row.key) !== undefined, `seed ${seed}, ${row.key}`);
    }
  }
});
