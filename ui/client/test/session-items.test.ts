import assert from "node:assert/strict";
import { test } from "node:test";
import {
  extractMessagesFromTasks,
  invocationOf,
  isA2AMessage,
  isA2ATask,
  isA2ATaskArtifactUpdate,
  isA2ATaskStatusUpdate,
  isTaskLike,
  itemOf,
  messageOf,
  taskOf,
} from "../src/compat/index.js";

type Extraction = [name: string, tasks: unknown[], ids: string[]];

const message = { kind: "message", messageId: "m", role: "user", parts: [] };

/** The detected kind of each payload. */
const DETECTION: [name: string, payload: unknown, kind: string][] = [
  ["SESSION-15 a task", { kind: "task", id: "t", contextId: "c", history: [] }, "task"],
  ["SESSION-15 a task without a history", { kind: "task", id: "t" }, "task"],
  ["SESSION-16 no kind, but a history and an id", { history: [message], id: "t" }, "task"],
  [
    "SESSION-16 no kind, but a history and a context",
    { history: [message], contextId: "c" },
    "task",
  ],
  ["SESSION-16 an empty history is no sign", { history: [], id: "t" }, "other"],
  ["SESSION-16 a history of nobody is no sign", { history: [message] }, "other"],
  ["SESSION-16 an id that is no text is no sign", { history: [message], id: 7 }, "other"],
  ["SESSION-17 a status", { kind: "status-update", status: { state: "working" } }, "status-update"],
  [
    "SESSION-18 an artifact",
    { kind: "artifact-update", artifact: { parts: [] } },
    "artifact-update",
  ],
  ["SESSION-19 a message", message, "message"],
  ["SESSION-8 a message of 1.0", { message: { ...message, kind: undefined } }, "message"],
  ["SESSION-21 a task of 1.0", { task: { id: "t", contextId: "c" } }, "task"],
  ["SESSION-21 a status of 1.0", { statusUpdate: { status: {} } }, "status-update"],
  ["SESSION-21 an artifact of 1.0", { artifactUpdate: { artifact: {} } }, "artifact-update"],
  ["SESSION-20 an unknown kind", { kind: "surprise" }, "other"],
  ["SESSION-20 a text", "[DONE]", "other"],
  ["SESSION-20 nothing", null, "other"],
  ["SESSION-20 a list", [message], "other"],
  ["SESSION-10 the result of JSON-RPC", { jsonrpc: "2.0", id: 1, result: message }, "message"],
  ["SESSION-10 an error of JSON-RPC", { id: 1, error: { code: -32602, message: "no" } }, "error"],
];

for (const [name, payload, kind] of DETECTION) {
  test(name, () => assert.equal(itemOf(payload).kind, kind));
}

test("each test for a kind says yes to that kind only", () => {
  const tests = [isA2ATask, isA2ATaskStatusUpdate, isA2ATaskArtifactUpdate, isA2AMessage];
  const kinds = ["task", "status-update", "artifact-update", "message"];
  for (const [i, is] of tests.entries()) {
    assert.deepEqual(
      kinds.filter((kind) => is({ kind })),
      [kinds[i]],
    );
    assert.ok(![null, undefined, "task", 7, []].some(is));
  }
  assert.ok(isTaskLike({ id: "t", history: [{}] }) && !isTaskLike({ id: "t", history: "no" }));
});

test("SESSION-21 both versions are read into the same", () => {
  const early = {
    kind: "task",
    id: "t",
    contextId: "c",
    status: { state: "input-required", timestamp: "2026-01-01T00:00:00.000Z" },
    history: [
      {
        kind: "message",
        messageId: "m",
        role: "user",
        parts: [
          { kind: "text", text: "hi" },
          { kind: "data", data: { a: 1 } },
          { kind: "file", file: { bytes: "aGk=", name: "a.txt", mimeType: "text/plain" } },
        ],
      },
    ],
  };
  const late = {
    id: "t",
    contextId: "c",
    status: { state: "TASK_STATE_INPUT_REQUIRED", timestamp: "2026-01-01T00:00:00.000Z" },
    history: [
      {
        messageId: "m",
        role: "ROLE_USER",
        parts: [
          { text: "hi" },
          { data: { a: 1 } },
          { raw: "aGk=", filename: "a.txt", mediaType: "text/plain" },
        ],
      },
    ],
  };
  assert.deepEqual(taskOf(late), taskOf(early));
  assert.deepEqual(taskOf(early), early);
});

const said = (messageId: string, more: object = {}): object => ({
  kind: "message",
  messageId,
  role: "agent",
  parts: [],
  ...more,
});

const of = (...ids: string[]): object => ({ history: ids.map((id) => said(id)) });

/** SESSION-5, SESSION-6, SESSION-8: which messages make the conversation. */
const EXTRACTION: Extraction[] = [
  ["no tasks", [], []],
  ["a task without a history", [{ id: "t" }, { id: "u", history: null }], []],
  ["tasks are merged in their order", [of("a"), of("b")], ["a", "b"]],
  ["each message once", [of("a", "b"), of("a")], ["a", "b"]],
  ["only messages", [{ history: [{ kind: "artifact", id: "x" }, said("a")] }], ["a"]],
  ["no kind, but an id and parts", [{ history: [{ messageId: "a", parts: [] }] }], ["a"]],
  ["no kind and no parts", [{ history: [{ messageId: "a" }, 7, null] }], []],
];

for (const [name, tasks, ids] of EXTRACTION) {
  test(`SESSION-5 extractMessagesFromTasks: ${name}`, () => {
    const found = extractMessagesFromTasks(tasks).map((one) => one.messageId);
    assert.deepEqual(found, ids);
  });
}

test("SESSION-42 the turn of a message is found under either prefix, adk_ first", () => {
  const both = said("a", { metadata: { kagent_invocation_id: "k", adk_invocation_id: "a" } });
  const one = said("a", { metadata: { kagent_invocation_id: "k" } });
  const turns = [both, one, said("a")]
    .map((each) => messageOf(each))
    .map((each) => (each === undefined ? undefined : invocationOf(each)));
  assert.deepEqual(turns, ["a", "k", undefined]);
});
