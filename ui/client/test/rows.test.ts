import assert from "node:assert/strict";
import { test } from "node:test";
import {
  emptyContext,
  forkSeqAfter,
  containsTask,
  indexOfRow,
  innerRowKey,
  keyOfStep,
  selectionOfRow,
  type ParleyEvent,
  progressOf,
  reduceAll,
  type Row,
  rowAt,
  rowsOf,
  stepsOf,
  view,
  windowOf,
} from "../src/index.js";
import { fromSnapshot } from "../src/snapshot.js";
import { snapshotOf } from "./snapshot-of.js";

let seq = 0;
function at(fields: object): ParleyEvent {
  seq++;
  const timestamp = new Date(Date.UTC(2026, 0, 1) + seq).toISOString();
  return { seq, eventId: `e${seq}`, contextId: "c", timestamp, ...fields } as ParleyEvent;
}

function task(taskId: string, agentId: string, parent?: string, call?: string) {
  const root = parent ?? taskId;
  const above = parent === undefined ? {} : { parentTaskId: parent, spawnedByCallId: call };
  return { taskId, rootTaskId: root, agentId, agentLevel: parent ? "subagent" : "core", ...above };
}

function asked(messageId: string, of: { taskId: string }, content = messageId): ParleyEvent[] {
  return [
    at({ kind: "message", messageId, role: "user", content, metadata: { taskId: of.taskId } }),
    at({ kind: "task-created", ...of, initiator: "user", messageId, prompt: content }),
  ];
}

const root = task("t1", "supervisor");
const status = (of: object, is: string, metadata?: object) =>
  at({ kind: "task-status", ...of, status: is, ...(metadata ? { metadata } : {}) });
const said = (of: object, blockId: string, delta: string) =>
  at({ kind: "content-delta", ...of, delta, index: 0, blockId });
const rows = (events: readonly ParleyEvent[]) => rowsOf(view(reduceAll(emptyContext("c"), events)));

function begin(): ParleyEvent[] {
  seq = 0;
  return [at({ kind: "context-created", owner: "local" })];
}

test("steps of a task stand in the order of the log, below what asked for it", () => {
  const log = [...begin(), ...asked("m1", root), status(root, "working")];
  const call = { toolCallId: "x", toolName: "clock", arguments: {} };
  log.push(
    at({
      kind: "thought-stream",
      ...root,
      thoughtId: "h",
      thoughtType: "planning",
      verbosity: "brief",
      content: "hm",
      index: 0,
    }),
    said(root, "b1", "first"),
    at({ kind: "tool-start", ...root, ...call }),
    said(root, "b2", "second"),
  );
  assert.deepEqual(
    rows(log).map((row) => row.key),
    ["m-m1", "t-h", "b-b1", "c-x", "b-b2", "e-t1"],
  );
});

test("an answer whose words were seen as they came is not shown twice", () => {
  const log = [...begin(), ...asked("m1", root), status(root, "working"), said(root, "b", "yes")];
  const whole = { content: "yes", blockId: "b", finishReason: "stop" };
  log.push(
    at({ kind: "content-complete", ...root, ...whole }),
    at({ kind: "message", ...root, messageId: "a1", role: "assistant", content: "yes" }),
    status(root, "completed"),
    at({ kind: "task-complete", ...root, content: "yes" }),
  );
  assert.deepEqual(
    rows(log).map((row) => row.key),
    ["m-m1", "b-b", "e-t1"],
  );
});

test("the one agent that a supervisor chose speaks for it; several stand at their call", () => {
  const child = task("t2", "writer", "t1", "x");
  const routed = (strategy: string) => [
    ...begin(),
    ...asked("m1", root),
    status(root, "working", { routing: { strategy } }),
    at({ kind: "tool-start", ...root, toolCallId: "x", toolName: "subagents", arguments: {} }),
    at({ kind: "task-created", ...child, initiator: "agent" }),
    said(child, "b", "from the writer"),
  ];
  assert.deepEqual(
    rows(routed("single")).map((row) => row.key),
    ["m-m1", "b-b", "e-t1"],
  );
  const several = rows(routed("parallel"));
  assert.deepEqual(
    several.map((row) => row.key),
    ["m-m1", "c-x", "e-t1"],
  );
  const [, call] = several;
  assert.ok(
    call?.kind === "call" &&
      containsTask(call.children, "t2") &&
      !containsTask(call.children, "t3"),
  );
  assert.equal(rowAt(several, undefined, "t2"), 1);
  const none = { ended: 0, failed: 0, stopped: 0 };
  assert.deepEqual(call.children && progressOf(call.children), { total: 1, ...none });
});

test("sub-agents that were stopped have ended, and have not failed", () => {
  const children = ["completed", "failed", "canceled", "working"].map((is, i) => ({
    is,
    child: task(`t${i + 2}`, "writer", "t1", "x"),
  }));
  const log = [
    ...begin(),
    ...asked("m1", root),
    status(root, "working"),
    at({ kind: "tool-start", ...root, toolCallId: "x", toolName: "subagents", arguments: {} }),
    ...children.flatMap(({ is, child }) => [
      at({ kind: "task-created", ...child, initiator: "agent" }),
      status(child, is),
    ]),
  ];
  const call = rows(log).find((row) => row.kind === "call");
  assert.ok(call?.kind === "call");
  assert.deepEqual(progressOf(call.children), { total: 4, ended: 3, failed: 1, stopped: 1 });
});

test("what waits its turn is no row, and what steers stands where it was said", () => {
  const log = [...begin(), ...asked("m1", root), status(root, "working"), said(root, "b", "a")];
  const steer = { messageId: "m2", role: "user", content: "left", metadata: { taskId: "t1" } };
  log.push(at({ kind: "message", ...steer }), said(root, "b2", "b"));
  const queued = task("t9", "supervisor");
  log.push(...asked("m3", queued), status(queued, "submitted", { blockedBy: "t1" }));
  assert.deepEqual(
    rows(log).map((row) => row.key),
    ["m-m1", "b-b", "m-m2", "b-b2", "e-t1"],
  );
});

test("an answer stands with its task, also after what was Sent while working", () => {
  const next = task("t2", "supervisor");
  const answer = {
    messageId: "m9",
    role: "assistant",
    content: "done",
    metadata: { taskId: "t1" },
  };
  const log = [
    ...begin(),
    ...asked("m1", root),
    status(root, "working"),
    ...asked("m2", next),
    at({ kind: "message", ...root, ...answer }),
    status(root, "canceled"),
    status(next, "working"),
    said(next, "b", "on"),
  ];
  assert.deepEqual(
    rows(log).map((row) => row.key),
    ["m-m1", "m-m9", "e-t1", "m-m2", "b-b", "e-t2"],
  );
});

test("a link to an event leads to the row that it stands on", () => {
  const log = [...begin(), ...asked("m1", root), status(root, "working"), said(root, "b", "a")];
  const all = rows(log);
  assert.equal(rowAt(all, 2, undefined), 0);
  assert.equal(rowAt(all, 3, undefined), 0);
  assert.equal(rowAt(all, 5, undefined), 1);
  assert.equal(rowAt(all, 900, undefined), 1);
  assert.equal(rowAt(all, undefined, undefined), -1);
});

test("a fork after a task goes up to what was said next", () => {
  const second = task("t2", "supervisor");
  const log = [...begin(), ...asked("m1", root), status(root, "completed"), ...asked("m2", second)];
  log.push(status(second, "completed"));
  const shown = view(reduceAll(emptyContext("c"), log));
  const [one, two] = shown.tasks;
  assert.equal(one && forkSeqAfter(rowsOf(shown), one), 4);
  assert.equal(two && forkSeqAfter(rowsOf(shown), two), undefined);
});

test("only so many rows are in the page, and those that are looked at", () => {
  assert.deepEqual(windowOf(10, undefined), { from: 0, to: 10 });
  for (const count of [200, 201, 5_000]) {
    const { from, to } = windowOf(count, undefined);
    assert.ok(to === count && to - from <= 200 && to - from > 99, `${count}: ${from} to ${to}`);
  }
  assert.deepEqual(windowOf(5_000, 70), { from: 70, to: 470 });
});

test("a queued message is shown where it stands if nothing else is working", () => {
  const first = task("t8", "supervisor");
  const second = task("t9", "supervisor");
  const log = [...begin(), ...asked("m1", first), ...asked("m2", second)];
  assert.deepEqual(
    rows(log).map((row) => row.key),
    ["m-m1", "e-t8"],
  );
});

test("a link to what is not loaded leads to no row", () => {
  const log = [...begin(), ...asked("m1", root), status(root, "working"), said(root, "b", "yes")];
  const shown = rows(log);
  assert.equal(rowAt(shown, 1, undefined), -1);
  assert.equal(shown[rowAt(shown, 2, undefined)]?.key, "m-m1");
  assert.equal(shown[rowAt(shown, 99, undefined)]?.key, "b-b");
});

test("tasks whose messages a snapshot left out have no rows", () => {
  const log = begin();
  for (let i = 0; i < 5; i++) {
    const of = task(`t${i}`, "writer");
    log.push(
      ...asked(`m${i}`, of),
      status(of, "working"),
      at({ kind: "message", ...of, messageId: `a${i}`, role: "assistant", content: "yes" }),
      status(of, "completed"),
      at({ kind: "task-complete", ...of, content: "yes" }),
    );
  }
  const whole = reduceAll(emptyContext("c"), log);
  const latest = { ...snapshotOf(whole), hasEarlierMessages: true };
  const context = fromSnapshot({ ...latest, messages: latest.messages.slice(-3) });
  assert.deepEqual(
    rowsOf(view(context)).map((row) => row.key),
    ["m-a3", "e-t3", "m-m4", "m-a4", "e-t4"],
  );
});

test("two calls with one name are two rows", () => {
  const call = { toolCallId: "call_0", toolName: "clock", arguments: {} };
  const log = begin();
  for (const of of [task("t1", "writer"), task("t2", "writer")]) {
    log.push(
      ...asked(`m-${of.taskId}`, of),
      status(of, "working"),
      at({ kind: "tool-start", ...of, ...call }),
      at({ kind: "tool-complete", ...of, ...call, success: true, result: 1 }),
      status(of, "completed"),
    );
  }
  const keys = rows(log).map((row) => row.key);
  assert.equal(keys.filter((key) => key.startsWith("c-call_0")).length, 2);
  assert.equal(new Set(keys).size, keys.length);
});

test("a row is found again by its place when its words are told in another way", () => {
  const log = begin();
  for (const of of [task("t1", "writer"), task("t2", "writer")]) {
    log.push(
      ...asked(`m-${of.taskId}`, of),
      status(of, "working"),
      said(of, `b-${of.taskId}`, "yes"),
      at({ kind: "content-complete", ...of, content: "yes", blockId: `b-${of.taskId}` }),
      at({
        kind: "message",
        ...of,
        messageId: `a-${of.taskId}`,
        role: "assistant",
        content: "yes",
      }),
      status(of, "completed"),
    );
  }
  const whole = reduceAll(emptyContext("c"), log);
  const known = rowsOf(view(fromSnapshot(snapshotOf(whole))));
  const rowsNow = rowsOf(view(whole));
  const answer = known.find((row) => row.key === "m-a-t2");
  assert.ok(answer !== undefined && !rowsNow.some((row) => row.key === answer.key));
  assert.equal(rowsNow[indexOfRow(rowsNow, answer)]?.key, "b-b-t2");
});

const wrote = (of: object, artifactId: string, index: number, complete: boolean) =>
  at({ kind: "file-write", ...of, artifactId, name: artifactId, data: "ab", index, complete });

test("what a task writes stands where it began to, and grows in its place", () => {
  const log = [...begin(), ...asked("m1", root), status(root, "working")];
  const call = { toolCallId: "x", toolName: "artifact", arguments: {} };
  log.push(at({ kind: "tool-start", ...root, ...call }), wrote(root, "notes", 0, false));
  const shown = (): readonly unknown[] =>
    rows(log).map((row) =>
      row.kind === "artifact" ? [row.key, row.version.status, row.version.size] : row.key,
    );
  assert.deepEqual(shown(), ["m-m1", "c-x", ["w-6", "building", 2], "e-t1"]);
  log.push(said(root, "b", "done"), wrote(root, "notes", 1, true));
  assert.deepEqual(shown(), ["m-m1", "c-x", ["w-6", "complete", 4], "b-b", "e-t1"]);
  log.push(wrote(root, "notes", 0, true), status(root, "completed"));
  const again = ["m-m1", "c-x", ["w-6", "complete", 4], "b-b", ["w-9", "complete", 2], "e-t1"];
  assert.deepEqual(shown(), again, "another version is another step");
  log.push(at({ kind: "context-rewound", toSeq: 1 }));
  assert.deepEqual(shown(), []);
});

test("what a sub-agent writes is a step of its own, and a link to it leads there", () => {
  const child = task("t2", "writer", "t1", "x");
  const log = [
    ...begin(),
    ...asked("m1", root),
    status(root, "working"),
    at({ kind: "tool-start", ...root, toolCallId: "x", toolName: "subagents", arguments: {} }),
    at({ kind: "task-created", ...child, initiator: "agent" }),
    wrote(child, "notes", 0, true),
    wrote({}, "from-a-person", 0, true),
  ];
  const seen = view(reduceAll(emptyContext("c"), log));
  assert.deepEqual(
    rowsOf(seen).map((row) => row.key),
    ["m-m1", "c-x", "e-t1"],
  );
  const [inner] = seen.tasks[0]?.children ?? [];
  assert.deepEqual(inner && stepsOf(inner).map(keyOfStep), ["w-7"]);
  assert.equal(innerRowKey(seen, "t2", log[6]), "w-7");
  assert.equal(selectionOfRow(seen, "w-7")?.taskId, "t2");
});

test("of what was written before a snapshot the latest is shown, and goes on growing", () => {
  const log = [...begin(), ...asked("m1", root), status(root, "working")];
  log.push(wrote(root, "notes", 0, true), wrote(root, "notes", 0, false));
  const before = reduceAll(emptyContext("c"), log);
  const known = fromSnapshot(snapshotOf(before));
  const later = [wrote(root, "notes", 1, true)];
  for (const context of [known, before]) {
    const all = rowsOf(view(reduceAll(context, later)));
    const last = all.filter((row) => row.kind === "artifact").at(-1);
    assert.ok(last?.kind === "artifact");
    assert.deepEqual([last.key, last.version.status, last.version.size], ["w-6", "complete", 4]);
  }
});

test("what was said while a task worked is known by that, also when the task has ended", () => {
  const second = task("t2", "supervisor");
  const third = task("t3", "supervisor");
  const log = [...begin(), ...asked("m1", root), status(root, "working"), ...asked("m2", second)];
  log.push(status(root, "completed"), status(second, "working"), status(second, "canceled"));
  log.push(...asked("m3", third), status(third, "working"));
  const meanwhile = (all: readonly Row[]) =>
    all.flatMap((row) => (row.kind === "message" ? [[row.message.messageId, row.meanwhile]] : []));
  const wanted = [
    ["m1", false],
    ["m2", true],
    ["m3", false],
  ];
  assert.deepEqual(meanwhile(rows(log)), wanted);
  const known = fromSnapshot(snapshotOf(reduceAll(emptyContext("c"), log.slice(0, -3))));
  const unsure = wanted.map(([id]) => [id, false]);
  assert.deepEqual(meanwhile(rowsOf(view(reduceAll(known, log)))), unsure, "a snapshot tells not");
});

test("text that was cut off says so where it goes on, and not where the task ends", () => {
  const log = [...begin(), ...asked("m1", root), status(root, "working")];
  const ends = (blockId: string, finishReason: string, more: object = { partial: true }) =>
    at({ kind: "content-complete", ...root, content: "a", blockId, finishReason, ...more });
  const cuts = (events: readonly ParleyEvent[]) =>
    rows(events).flatMap((row) => (row.kind === "text" ? [[row.key, row.cut]] : []));
  log.push(said(root, "b1", "a"), ends("b1", "interrupted"));
  assert.deepEqual(cuts(log), [["b-b1", true]]);
  const failed = [...log, status(root, "failed")];
  assert.deepEqual(cuts(failed), [["b-b1", false]], "how it ended is told by its end");
  log.push(said(root, "b2", "a"));
  const twice = [
    ["b-b1", true],
    ["b-b2", false],
  ];
  assert.deepEqual(cuts(log), twice);
  const stopped = [...log, ends("b2", "canceled"), status(root, "canceled")];
  assert.deepEqual(cuts(stopped), twice, "what was stopped is not cut off");
  log.push(ends("b2", "stop", { replaces: "b1" }));
  assert.deepEqual(cuts(log), [["b-b2", false]], "what is said anew stands for it");
});
