import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ContextView,
  emptyContext,
  type ParleyEvent,
  reduce,
  reduceAll,
  retryText,
  view,
} from "../src/index.js";

const EMPTY = emptyContext("c");

/** Events with defaults for missing fields. */
function log(...events: (Record<string, unknown> & { kind: string })[]): ParleyEvent[] {
  return events.map((fields, i) => {
    const seq = i + 1;
    const timestamp = new Date(seq * 1000).toISOString();
    return {
      contextId: "c",
      seq,
      eventId: `e${seq}`,
      timestamp,
      ...fields,
    } as unknown as ParleyEvent;
  });
}

function shown(...events: (Record<string, unknown> & { kind: string })[]): ContextView {
  return view(reduceAll(EMPTY, log(...events)));
}

const CREATED = { kind: "context-created", owner: "local" };
const T = { taskId: "t", rootTaskId: "t", agentId: "a", agentLevel: "core" };
const TASK = { ...T, kind: "task-created", initiator: "user", messageId: "m", prompt: "hi" };
const WORKING = { ...T, kind: "task-status", status: "working" };
const ASKED = {
  kind: "message",
  messageId: "m",
  role: "user",
  content: "hi",
  metadata: { taskId: "t" },
};

function delta(text: string, blockId = "b"): Record<string, unknown> & { kind: string } {
  return { ...T, kind: "content-delta", delta: text, index: 0, blockId };
}

test("text streams into a draft, and the answer takes its place", () => {
  const events = log(CREATED, ASKED, TASK, WORKING, delta("Hel"), delta("lo"));
  const state = reduceAll(EMPTY, events);
  const draft = view(state).conversation.at(-1);
  assert.equal(draft?.kind === "draft" && draft.text, "Hello");
  const more = log(
    ...events.map((event) => ({ ...event })),
    { ...T, kind: "content-complete", content: "Hello", blockId: "b" },
    { ...T, kind: "message", messageId: "m2", role: "assistant", content: "Hello" },
  );
  const after = view(reduceAll(state, more)).conversation;
  assert.deepEqual(
    after.map((one) => (one.kind === "message" ? one.message.content : "draft")),
    ["hi", "Hello"],
  );
});

test("a block that is replaced is not shown, and one that was cut off says so", () => {
  const { tasks } = shown(
    CREATED,
    ASKED,
    TASK,
    WORKING,
    delta("wrong", "b1"),
    {
      ...T,
      kind: "content-complete",
      content: "wrong",
      blockId: "b1",
      partial: true,
      finishReason: "interrupted",
    },
    delta("right", "b2"),
    { ...T, kind: "content-complete", content: "right", blockId: "b2", replaces: "b1" },
  );
  assert.equal(tasks[0]?.text, "right");
  assert.deepEqual(
    tasks[0]?.blocks.map((block) => [block.text, block.partial, block.replaced]),
    [
      ["wrong", true, true],
      ["right", false, false],
    ],
  );
});

test("a merged delta that begins where its block does has all of it", () => {
  const merged = { ...delta("Hello"), seq: 6, fromSeq: 5 };
  const { tasks } = shown(CREATED, ASKED, TASK, WORKING, delta("Hel"), merged);
  assert.equal(tasks[0]?.text, "Hello");
});

test("texts of two blocks that come in turns are kept apart", () => {
  const { tasks } = shown(
    CREATED,
    ASKED,
    TASK,
    WORKING,
    delta("a", "1"),
    delta("x", "2"),
    delta("b", "1"),
    delta("y", "2"),
  );
  assert.deepEqual(
    tasks[0]?.blocks.map((block) => block.text),
    ["ab", "xy"],
  );
});

test("tools have progress, results and endings", () => {
  const call = { ...T, toolCallId: "x", toolName: "shell" };
  const { tasks } = shown(
    CREATED,
    ASKED,
    TASK,
    WORKING,
    { ...call, kind: "tool-start", arguments: { command: "ls" } },
    { ...call, kind: "tool-progress", progress: 0.5, message: "half" },
    { ...call, kind: "tool-complete", success: false, error: "no", outcome: "canceled" },
    { ...call, toolCallId: "y", kind: "tool-start", arguments: {} },
    { ...T, kind: "task-status", status: "failed" },
  );
  assert.deepEqual(
    tasks[0]?.calls.map(({ status, progress, error, outcome }) => ({
      status,
      progress,
      error,
      outcome,
    })),
    [
      { status: "failed", progress: 0.5, error: "no", outcome: "canceled" },
      { status: "abandoned", progress: undefined, error: undefined, outcome: undefined },
    ],
  );
});

test("what is asked waits, and leaves when it is answered, lapses, or its task ends", () => {
  const ask = (inputId: string): Record<string, unknown> & { kind: string } => ({
    ...T,
    kind: "input-required",
    inputId,
    inputType: "confirmation",
    prompt: "May I?",
  });
  const auth = { ...T, kind: "auth-required", authId: "s", authType: "api-key", prompt: "Key?" };
  const begin = [CREATED, ASKED, TASK, WORKING, ask("1"), ask("2"), ask("3"), auth];
  assert.deepEqual(
    shown(...begin).pendingInputs.map((one) => one.inputId),
    ["1", "2", "3"],
  );
  assert.equal(shown(...begin).pendingAuths.length, 1);
  const later = [
    ...begin,
    { ...T, kind: "input-received", inputId: "1", providedBy: "user", value: true },
    { ...T, kind: "input-lapsed", inputId: "2" },
  ];
  assert.deepEqual(
    shown(...later).pendingInputs.map((one) => one.inputId),
    ["3"],
  );
  const ended = shown(...later, { ...T, kind: "task-status", status: "canceled" });
  assert.deepEqual([ended.pendingInputs, ended.pendingAuths], [[], []]);
  assert.deepEqual(
    ended.tasks[0]?.questions.map((one) => [one.id, one.status, one.value]),
    [
      ["1", "answered", true],
      ["2", "lapsed", undefined],
      ["3", "lapsed", undefined],
      ["s", "lapsed", undefined],
    ],
  );
});

test("an artifact is built chunk by chunk, and has versions", () => {
  const file = { ...T, kind: "file-write", artifactId: "f" };
  const first = { ...file, index: 0, complete: false, name: "f.md", data: "ä", version: 1 };
  const begin = [CREATED, ASKED, TASK, WORKING, first];
  const building = shown(...begin).artifacts[0];
  assert.deepEqual([building?.status, building?.content, building?.size], ["building", "ä", 2]);
  const { artifacts } = shown(
    ...begin,
    { ...file, index: 1, complete: true, data: "b", version: 1 },
    { ...file, index: 0, complete: false, data: "new", version: 2 },
    { ...T, kind: "task-status", status: "failed" },
  );
  assert.deepEqual(
    artifacts[0]?.versions.map((one) => [one.version, one.status, one.content, one.size]),
    [
      [1, "complete", "äb", 3],
      [2, "failed", "new", 3],
    ],
  );
});

test("base64 may be cut anywhere", () => {
  const file = { ...T, kind: "file-write", artifactId: "f" };
  const { artifacts } = shown(
    CREATED,
    { ...file, index: 0, complete: false, encoding: "base64", data: "aGVs" + "bG" },
    { ...file, index: 1, complete: true, data: "8=" },
  );
  assert.deepEqual(
    [artifacts[0]?.status, artifacts[0]?.size, artifacts[0]?.content],
    ["complete", 5, "aGVsbG8="],
  );
});

test("tasks that wait their turn are the queue, and usage adds up along the tree", () => {
  const sub = {
    taskId: "s",
    parentTaskId: "t",
    rootTaskId: "t",
    agentId: "b",
    agentLevel: "subagent",
  };
  const spent = { kind: "usage", model: "m", inputTokens: 10, outputTokens: 1 };
  const shownNow = shown(
    CREATED,
    ASKED,
    TASK,
    WORKING,
    { ...TASK, taskId: "q", rootTaskId: "q" },
    { ...sub, kind: "task-created", initiator: "agent" },
    { ...T, ...spent, costUsd: 0.1 },
    { ...sub, ...spent, costUsd: 0.2 },
  );
  assert.deepEqual(
    shownNow.queue.map((task) => task.taskId),
    ["q"],
  );
  assert.equal(shownNow.active?.taskId, "t");
  assert.deepEqual(
    shownNow.active?.children.map((task) => task.taskId),
    ["s"],
  );
  assert.deepEqual(shownNow.active?.totals, {
    calls: 2,
    inputTokens: 20,
    outputTokens: 2,
    cacheCreationInputTokens: 0,
    cacheReadInputTokens: 0,
    costUsd: 0.3,
  });
  assert.equal(shownNow.totals.costUsd, 0.3);
});

test("a rewind takes back what followed, keeps it as a branch, and can be taken back", () => {
  const say = (messageId: string): Record<string, unknown> & { kind: string } => ({
    kind: "message",
    messageId,
    role: "user",
    content: messageId,
  });
  const back = (toSeq: number): Record<string, unknown> & { kind: string } => ({
    kind: "context-rewound",
    toSeq,
  });
  const texts = (one: ContextView): string[] =>
    one.conversation.map((item) => (item.kind === "message" ? item.message.content : ""));
  const events = [CREATED, say("a"), say("b"), back(2), say("c")];
  const once = shown(...events);
  assert.deepEqual(texts(once), ["a", "c"]);
  assert.deepEqual(
    once.branches.map((branch) => branch.messages.map((one) => one.content)),
    [["b"]],
  );
  const again = shown(...events, back(3));
  assert.deepEqual(texts(again), ["a", "b"]);
  assert.deepEqual(
    again.branches.map((branch) => branch.messages.map((one) => one.content)),
    [[], ["c"]],
  );
});

test("a rewind undoes usage and state, but not edits, nor what belongs to the user", () => {
  const { conversation, usage, state, title } = shown(
    CREATED,
    { ...ASKED, content: "first words" },
    { kind: "state-updated", delta: { a: 1, gone: 1 } },
    { kind: "message-updated", messageId: "m", content: "edited" },
    { kind: "state-updated", delta: { a: 2, gone: null, "user:x": 3 } },
    { kind: "usage", model: "m", inputTokens: 1, outputTokens: 1 },
    { kind: "context-rewound", toSeq: 3 },
  );
  assert.equal(conversation[0]?.kind === "message" && conversation[0].message.content, "edited");
  assert.deepEqual([usage, state, title], [[], { a: 1, gone: 1, "user:x": 3 }, "edited"]);
});

test("a deleted message stays deleted after a rewind, also in what was left behind", () => {
  const { conversation, branches, tasks } = shown(
    CREATED,
    { ...ASKED, content: "one" },
    { ...TASK, prompt: "one" },
    { kind: "message", messageId: "m2", role: "user", content: "two" },
    { kind: "message-deleted", messageId: "m" },
    { kind: "message-updated", messageId: "m2", content: "changed" },
    { kind: "context-rewound", toSeq: 3 },
  );
  assert.deepEqual(conversation, []);
  assert.deepEqual(
    branches.map((branch) => branch.messages.map((one) => one.content)),
    [["changed"]],
  );
  assert.equal(tasks[0]?.prompt, undefined);
});

test("a summary of what was deleted is hidden with it", () => {
  const summary = (throughSeq: number, asOf: number) => ({
    kind: "message",
    messageId: `s${throughSeq}`,
    role: "system",
    content: "in short",
    metadata: { summary: { throughSeq, asOf } },
  });
  const { conversation } = shown(
    CREATED,
    ASKED,
    { ...ASKED, messageId: "m2", content: "two" },
    summary(2, 3),
    summary(3, 3),
    { kind: "message-deleted", messageId: "m2" },
    { ...summary(4, 5), messageId: "late" },
    { ...summary(5, 6), messageId: "fresh" },
  );
  assert.deepEqual(
    conversation.map((one) => one.kind === "message" && one.message.messageId),
    ["m", "s2", "fresh"],
  );
});

test("a retry of a model request lasts until the next event of its task", () => {
  const reason = "the model's server failed with 503";
  const retry = { attempt: 2, maxAttempts: 5, delayMs: 412, reason };
  const again = { ...WORKING, metadata: { retry: { ...retry, code: "model_error", model: "m" } } };
  const started = [CREATED, ASKED, TASK, { ...WORKING, metadata: { routing: {} } }, again];
  const retryAfter = (...more: Parameters<typeof log>) =>
    shown(...started, ...more).tasks[0]?.retry;
  assert.deepEqual(retryAfter(), retry);
  assert.equal(retryText(retry), `Retrying (2 of 5): ${reason}`);
  const third = { ...WORKING, metadata: { retry: { ...retry, attempt: 3 } } };
  assert.equal(retryAfter(third)?.attempt, 3);
  assert.equal(retryAfter(delta("It works")), undefined);
  assert.equal(retryAfter({ ...WORKING, status: "failed" }), undefined);
  const other = { ...WORKING, taskId: "u" };
  assert.deepEqual(retryAfter(other, { ...ASKED, messageId: "n" }), retry, "other events");
  assert.deepEqual(shown(...started).tasks[0]?.metadata, { routing: {} });
});

test("a fork says where it comes from and has an owner of its own", () => {
  const fork = shown(CREATED, ASKED, {
    kind: "context-forked",
    sourceContextId: "d",
    atSeq: 2,
    owner: "ann",
  });
  assert.deepEqual([fork.owner, fork.forkedFrom], ["ann", { contextId: "d", atSeq: 2 }]);
});

test("kinds that are not known, and other contexts, change nothing but the position", () => {
  const state = reduceAll(EMPTY, log(CREATED, { kind: "something-new" }));
  assert.equal(state.seq, 2);
  assert.equal(
    reduce(state, { ...(log(CREATED)[0] as ParleyEvent), contextId: "other", seq: 3 }),
    state,
  );
});
