import { failOf, write } from "./artifact-events.js";
import type { MessageFact, MessageUpdated, ParleyEvent, UsageFact } from "./events.js";
import { tokensIn } from "./model-calls.js";
import { isAfter, positionOf } from "./position.js";
import { activeAt, rewind } from "./rewind.js";
import type { ContextState, Edit, Task, UsageEntry } from "./state.js";
import type { StreamedEvent } from "./stream.js";
import { created, hasEnded, merged, optional, taskAfter, taskAfterAnswer } from "./task-events.js";
import { titleOf } from "./title.js";
import type { MessageInfo } from "./types.js";

const ID = /^[A-Za-z0-9._:-]{1,128}$/;
const ERRORS_MAX = 200;

/**
 * Applies one event. Pure: the same state and event give the same state.
 *
 * An event that was applied before, or that belongs to another context, returns the same state
 * object. Events must be in order, which a stream guarantees.
 */
export function reduce(state: ContextState, event: StreamedEvent): ContextState {
  if (event.contextId !== state.contextId || !isAfter(positionOf(event), state)) {
    return state;
  }
  const moved = { ...state, seq: event.seq, k: event.k ?? 0, updatedAt: event.timestamp };
  return afterTask(ofContext(moved, event), event);
}

/** Applies several events. */
export function reduceAll(state: ContextState, events: Iterable<StreamedEvent>): ContextState {
  let next = state;
  for (const event of events) {
    next = reduce(next, event);
  }
  return next;
}

/** Applies an event to the context, apart from its task. */
function ofContext(state: ContextState, event: StreamedEvent): ContextState {
  switch (event.kind) {
    case "context-created":
      return {
        ...state,
        owner: event.owner,
        title: event.title,
        metadata: event.metadata,
        createdAt: event.timestamp,
      };
    case "context-updated":
      return {
        ...state,
        title: event.title ?? state.title,
        metadata: event.metadata ?? state.metadata,
      };
    case "context-forked":
      return {
        ...state,
        owner: event.owner ?? state.owner,
        title: event.title ?? state.title,
        createdAt: event.timestamp,
        forkedFrom: { contextId: event.sourceContextId, atSeq: event.atSeq },
      };
    case "context-rewound":
      return rewind(state, event.seq, event.toSeq);
    case "state-updated":
      return { ...state, changes: [...state.changes, ...changes(event.seq, event.delta)] };
    case "message":
      return { ...state, messages: [...state.messages, message(event)] };
    case "message-updated":
    case "message-deleted":
      return edit(state, event);
    case "file-write":
    case "data-write":
    case "dataset-write":
      return write(state, event);
    case "usage":
      return { ...state, usage: [...state.usage, usage(event)] };
    case "error":
      return { ...state, errors: [...state.errors, failure(event)].slice(-ERRORS_MAX) };
    case "input-required":
      return {
        ...state,
        pendingInputs: [...without(state.pendingInputs, "inputId", event), event],
      };
    case "auth-required":
      return { ...state, pendingAuths: [...without(state.pendingAuths, "authId", event), event] };
    case "input-received":
    case "input-lapsed":
      return answered(
        { ...state, pendingInputs: without(state.pendingInputs, "inputId", event) },
        event,
      );
    case "auth-completed":
    case "auth-lapsed":
      return answered(
        { ...state, pendingAuths: without(state.pendingAuths, "authId", event) },
        event,
      );
    case "task-created":
    case "task-status":
    case "task-complete":
    case "cancel-requested":
    case "content-delta":
    case "content-complete":
    case "tool-start":
    case "tool-progress":
    case "tool-complete":
    case "subtask-created":
    case "subtask-complete":
    case "thought-stream":
    case "internal:thought-process":
    case "internal:llm-call":
    case "internal:checkpoint":
    case "internal:raw":
    case "task-stored":
    case "task-deleted":
      return state;
    default:
      return unknown(state, event);
  }
}

/** Newer servers may send kinds that this version does not know. */
function unknown(state: ContextState, _event: never): ContextState {
  return state;
}

function afterTask(state: ContextState, event: StreamedEvent): ContextState {
  const taskId = event.taskId;
  if (taskId === undefined) {
    return state;
  }
  const before = state.tasks[taskId];
  const task = event.kind === "task-created" ? created(event, taskId) : before;
  if (task === undefined) {
    return state;
  }
  const next = taskAfter(withWritten(task, event), event);
  if (next === before) {
    return state;
  }
  const changed = { ...state, tasks: { ...state.tasks, [taskId]: next } };
  const over = event.kind === "task-status" || event.kind === "task-complete";
  return over && hasEnded(next.status) ? ended(changed, taskId, event.timestamp) : changed;
}

function ended(state: ContextState, taskId: string, timestamp: string): ContextState {
  const open = (event: ParleyEvent): boolean => event.taskId !== taskId;
  return {
    ...state,
    versions: failOf(state.versions, taskId, timestamp),
    pendingInputs: state.pendingInputs.filter(open),
    pendingAuths: state.pendingAuths.filter(open),
  };
}

function withWritten(task: Task, event: ParleyEvent): Task {
  if (
    event.kind !== "file-write" &&
    event.kind !== "data-write" &&
    event.kind !== "dataset-write"
  ) {
    return task;
  }
  return task.written.includes(event.artifactId)
    ? task
    : { ...task, written: [...task.written, event.artifactId] };
}

/** The answer may belong to another task than the question. */
function answered(state: ContextState, event: ParleyEvent): ContextState {
  const tasks: Record<string, Task> = {};
  for (const [taskId, task] of Object.entries(state.tasks)) {
    tasks[taskId] = taskAfterAnswer(task, event);
  }
  return { ...state, tasks };
}

function without<K extends "inputId" | "authId", T extends { [key in K]: string }>(
  pending: readonly T[],
  id: K,
  event: { [key in K]: string },
): readonly T[] {
  return pending.filter((one) => one[id] !== event[id]);
}

function message(event: MessageFact): MessageInfo {
  const said = event.metadata?.["taskId"];
  // A user's message has no task of its own, but its metadata may name the task that answers it.
  const answering = typeof said === "string" && ID.test(said) ? said : undefined;
  return {
    messageId: event.messageId,
    seq: event.seq,
    role: event.role,
    content: event.content,
    ...optional("parts", event.parts),
    ...optional("taskId", event.taskId ?? answering),
    ...optional("agentId", event.taskId === undefined ? undefined : event.agentId),
    createdAt: event.timestamp,
    ...optional("metadata", event.metadata),
  };
}

type Correction = MessageUpdated | Extract<ParleyEvent, { kind: "message-deleted" }>;

/** A correction changes the text of all earlier messages with this id. Rewinds do not undo it. */
function edit(state: ContextState, event: Correction): ContextState {
  const said = asRead(state).filter(
    (one) => one.messageId === event.messageId && one.seq < event.seq,
  );
  const place = { seq: event.seq, editedAt: event.timestamp };
  if (said.length === 0) {
    // The message may be in the unloaded past; a loaded summary may contain it.
    return state.hasEarlierMessages
      ? { ...state, edits: [...state.edits, { ...place, messageSeq: 0 }] }
      : state;
  }
  const changes = said.map(
    (one): Edit =>
      event.kind === "message-deleted"
        ? { ...place, messageSeq: one.seq }
        : {
            ...place,
            messageSeq: one.seq,
            content: event.content,
            ...optional("metadata", merged(one.metadata, event.metadata)),
          },
  );
  const now = event.kind === "message-deleted" ? undefined : event.content;
  return {
    ...state,
    // A title derived from the message is removed with its text.
    title: said.some((one) => titleOf([one]) === state.title) ? undefined : state.title,
    edits: [...state.edits, ...changes],
    tasks: said.reduce((tasks, one) => tasksAfter(tasks, one, now), state.tasks),
  };
}

/** Updates the prompts and answers of tasks that quote the message. */
function tasksAfter(
  tasks: ContextState["tasks"],
  said: MessageInfo,
  now: string | undefined,
): ContextState["tasks"] {
  if (said.taskId === undefined || said.content === "") {
    return tasks;
  }
  const changed = Object.values(tasks).flatMap((task): [string, Task][] => {
    if (task.rootTaskId !== said.taskId) {
      return [];
    }
    const { prompt, content, ...rest } = task;
    return prompt === said.content || content === said.content
      ? [
          [
            task.taskId,
            {
              ...rest,
              ...optional("prompt", prompt === said.content ? now : prompt),
              ...optional("content", content === said.content ? now : content),
            },
          ],
        ]
      : [];
  });
  return changed.length === 0 ? tasks : { ...tasks, ...Object.fromEntries(changed) };
}

/** Applies later corrections to a past state. */
export function corrected(state: ContextState, later: readonly ParleyEvent[]): ContextState {
  return later.reduce(
    (now, event) =>
      (event.kind === "message-updated" || event.kind === "message-deleted") &&
      event.seq > state.seq
        ? edit(now, event)
        : now,
    state,
  );
}

/** The active messages with all corrections. */
export function readable(state: ContextState): MessageInfo[] {
  const counts = activeAt(state.rewinds, state.seq);
  return asRead(state).filter((one) => counts(one.seq));
}

/** All messages with all corrections, including those that a rewind removed. */
export function asRead(state: ContextState): readonly MessageInfo[] {
  if (state.edits.length === 0) {
    return state.messages;
  }
  const last = new Map<number, Edit>();
  const hidden = new Set<number>();
  for (const change of state.edits) {
    if (change.content === undefined) {
      hidden.add(change.messageSeq);
    } else {
      last.set(change.messageSeq, change);
    }
  }
  return state.messages
    .filter((one) => !hidden.has(one.seq) && !isOutdated(one, state.edits))
    .map((one) => edited(one, last.get(one.seq)));
}

/** True for a summary that contains text corrected since. */
function isOutdated(message: MessageInfo, edits: readonly Edit[]): boolean {
  const summary = message.metadata?.["summary"];
  if (message.role !== "system" || typeof summary !== "object" || summary === null) {
    return false;
  }
  const { throughSeq, asOf } = summary as { throughSeq?: unknown; asOf?: unknown };
  const through = typeof throughSeq === "number" ? throughSeq : 0;
  const read = typeof asOf === "number" ? asOf : message.seq;
  return edits.some((one) => one.messageSeq <= through && one.seq > read);
}

function edited(said: MessageInfo, change: Edit | undefined): MessageInfo {
  if (change === undefined) {
    return said;
  }
  const { metadata: _, ...rest } = said;
  return {
    ...rest,
    content: change.content ?? said.content,
    editedAt: change.editedAt,
    ...optional("metadata", change.metadata),
  };
}

function changes(seq: number, delta: Record<string, unknown>): ContextState["changes"] {
  return Object.entries(delta as ContextState["changes"][number]["value"] & object).map(
    ([key, value]) => ({ seq, key, value }),
  );
}

function usage(event: UsageFact): UsageEntry {
  return {
    seq: event.seq,
    taskId: event.taskId,
    model: event.model,
    calls: 1,
    ...tokensIn(event),
    costUsd: event.costUsd,
  };
}

function failure(event: Extract<ParleyEvent, { kind: "error" }>): ContextState["errors"][number] {
  const { seq, taskId, code, message, scope, retryable } = event;
  return { seq, taskId, code, message, scope, retryable };
}
