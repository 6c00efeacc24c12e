import {
  type A2AArtifactUpdate,
  type A2AItem,
  type A2AMessage,
  type A2APart,
  type A2AStatusUpdate,
  type A2ATask,
  extractMessagesFromTasks,
  invocationOf,
  isSettled,
  isWaiting,
  itemOf,
  metadataOf,
  taskOf,
  textOf,
} from "./session-items.js";

/** The state of an A2A session; `shown` returns its messages. */
export interface SessionState {
  /** Messages that the server has stored. */
  readonly stored: readonly A2AMessage[];
  /** Messages that arrived since then. */
  readonly streaming: readonly A2AMessage[];
  /**
   * Text that is not a complete message yet; `partial` if the server will send it again in full.
   */
  readonly text: string;
  readonly partial: boolean;
  readonly isStreaming: boolean;
  readonly status: "ready" | "working" | "input-required" | "auth-required" | "error";
  readonly error?: string;
  /** The state before a rewind that the server has not confirmed. */
  readonly before?: SessionState;
}

/** Receives unknown frames. */
export type Log = (message: string, payload: unknown) => void;

export const EMPTY_SESSION: SessionState = {
  stored: [],
  streaming: [],
  text: "",
  partial: false,
  isStreaming: false,
  status: "ready",
};

/**
 * The state of a loaded session: the messages of its tasks, and the questions of waiting tasks,
 * each once.
 */
export function loadSession(tasks: readonly unknown[]): SessionState {
  const waiting = tasks.map(taskOf).filter((task) => isWaiting(task.status.state));
  const state = { ...EMPTY_SESSION, stored: extractMessagesFromTasks(tasks) };
  const asked = waiting.reduce(ask, state);
  const last = waiting.at(-1);
  return last === undefined ? asked : { ...asked, status: statusFor(last.status.state, "ready") };
}

/** All messages of the conversation. */
export function shown(state: SessionState): readonly A2AMessage[] {
  return [...state.stored, ...state.streaming];
}

/** Adds a message that the user has just sent. */
export function sent(state: SessionState, message: A2AMessage): SessionState {
  return { ...add(flush(state), message), isStreaming: true, status: "working" };
}

/**
 * Removes a turn and everything after it immediately; the server's task then replaces the
 * conversation. See `rewindFailed`. An unknown turn changes nothing.
 */
export function rewindTo(state: SessionState, invocationId: string): SessionState {
  const all = shown(state);
  const first = all.findIndex((message) => invocationOf(message) === invocationId);
  if (first < 0) {
    return state;
  }
  const stored = all.slice(0, first);
  return { ...EMPTY_SESSION, stored, before: state.before ?? state };
}

/** Restores the conversation after a failed rewind. */
export function rewindFailed(state: SessionState, error?: string): SessionState {
  const back = state.before ?? state;
  return error === undefined ? back : { ...back, status: "error", error };
}

/**
 * Applies the first frame of a resubscribed stream, which is a task. Its messages replace earlier
 * ones of the same task; messages of other tasks stay.
 */
export function joined(state: SessionState, frame: unknown): SessionState {
  if (isEnd(frame)) {
    return state;
  }
  const item = itemOf(frame);
  return item.kind === "task" ? merge(state, item) : take(state, item, () => undefined);
}

/**
 * Applies a frame. Pure; accepts any value. `[DONE]`, which some servers send last, changes
 * nothing.
 */
export function reduceSession(state: SessionState, frame: unknown, log?: Log): SessionState {
  if (isEnd(frame)) {
    return state;
  }
  return take(state, itemOf(frame), log ?? (() => undefined));
}

function isEnd(frame: unknown): boolean {
  return typeof frame === "string" && frame.trim() === "[DONE]";
}

function take(state: SessionState, item: A2AItem, log: Log): SessionState {
  switch (item.kind) {
    case "task":
      return takeTask(state, item);
    case "status-update":
      return takeStatus(state, item);
    case "artifact-update":
      return takeArtifact(state, item);
    case "message":
      return add(flush(state), item);
    case "error":
      return state.before === undefined
        ? { ...flush(state), isStreaming: false, status: "error", error: item.message }
        : rewindFailed(state, item.message);
    case "other": {
      log("a frame that is neither a task nor a message nor an update", item.payload);
      const messageId = `other-${shown(state).length}`;
      const parts: A2APart[] = [{ kind: "text", text: JSON.stringify(item.payload) ?? "" }];
      return add(flush(state), { kind: "message", messageId, role: "agent", parts });
    }
  }
}

function takeTask(state: SessionState, task: A2ATask & { wrapped: boolean }): SessionState {
  const awaited = state.before !== undefined && task.id === task.contextId;
  const rewound = metadataOf(task.metadata, "rewound") === true || awaited;
  if (rewound || (task.history.length > 0 && !turn(task))) {
    return { ...EMPTY_SESSION, stored: task.history };
  }
  return task.history.length > 0 ? merge(state, task) : { ...state, isStreaming: true };
}

/**
 * True for the first task of a 1.0 stream, which has the history of one turn, not of the session.
 */
function turn(task: A2ATask & { wrapped: boolean }): boolean {
  return task.wrapped && task.id !== task.contextId;
}

function merge(state: SessionState, task: A2ATask): SessionState {
  const ids = new Set(task.history.map((message) => message.messageId));
  const others = shown(state).filter(
    (message) =>
      !ids.has(message.messageId) &&
      message.taskId !== task.id &&
      invocationOf(message) !== task.id,
  );
  const merged: SessionState = {
    ...EMPTY_SESSION,
    stored: [...others, ...task.history],
    isStreaming: !isSettled(task.status.state),
    status: statusFor(task.status.state, "ready"),
  };
  return isWaiting(task.status.state) ? ask(merged, task) : merged;
}

function ask(state: SessionState, task: A2ATask): SessionState {
  return task.status.message === undefined ? state : add(state, task.status.message);
}

function takeStatus(state: SessionState, update: A2AStatusUpdate): SessionState {
  const said = update.status.message;
  const failed = update.status.state === "failed" || update.status.state === "rejected";
  const why = said === undefined ? undefined : textOf(said.parts);
  if (failed && state.before !== undefined) {
    // The rewind failed; the status contains the reason.
    return rewindFailed(state, why ?? "the rewind failed");
  }
  const heard = said === undefined ? state : hear(state, said, update.final);
  const now: SessionState = {
    ...heard,
    isStreaming: !update.final,
    status: statusFor(update.status.state, update.final ? "ready" : "working"),
    ...(failed && why ? { error: why } : {}),
  };
  return update.final ? flush(now, update) : now;
}

function statusFor(state: string, usual: SessionState["status"]): SessionState["status"] {
  switch (state) {
    case "input-required":
    case "auth-required":
      return state;
    case "failed":
    case "rejected":
      return "error";
    case "submitted":
    case "working":
      return "working";
    default:
      return usual;
  }
}

/**
 * Applies the message of a status: text accumulates until it is complete, anything else is added as
 * a message.
 */
function hear(state: SessionState, said: A2AMessage, final: boolean): SessionState {
  if (known(state, said.messageId)) {
    return state;
  }
  const words = textOf(said.parts);
  const onlyWords = said.role === "agent" && said.parts.every((part) => part.kind === "text");
  if (!onlyWords) {
    return add(flush(state), said);
  }
  const partial = metadataOf(said.metadata, "adk_partial") === true;
  const whole = final || (state.partial && !partial);
  if (whole && words.startsWith(state.text)) {
    // The final message repeats the complete text.
    return words === "" ? state : add({ ...state, text: "", partial: false }, said);
  }
  return final ? add(flush(state), said) : { ...state, text: state.text + words, partial };
}

function takeArtifact(state: SessionState, update: A2AArtifactUpdate): SessionState {
  const { artifactId, parts } = update.artifact;
  const words = textOf(parts);
  // The artifact repeats the text of the status before it.
  const repeated = words !== "" && words.startsWith(state.text);
  const base = repeated ? { ...state, text: "", partial: false } : flush(state);
  const messageId = `artifact-${artifactId}`;
  const before = base.streaming.find((message) => message.messageId === messageId);
  const message: A2AMessage = {
    kind: "message",
    messageId,
    role: "agent",
    parts: update.append && before !== undefined ? joinedParts(before.parts, parts) : parts,
    contextId: update.contextId,
    taskId: update.taskId,
    metadata: { ...update.metadata, kagent_artifact: true, ...update.artifact.metadata },
  };
  const empty = message.parts.length === 0;
  return { ...(empty ? base : put(base, message)), isStreaming: true };
}

function joinedParts(before: readonly A2APart[], more: readonly A2APart[]): A2APart[] {
  const parts = [...before];
  for (const part of more) {
    const last = parts.at(-1);
    if (last?.kind === "text" && part.kind === "text") {
      parts[parts.length - 1] = { ...last, text: last.text + part.text };
    } else {
      parts.push(part);
    }
  }
  return parts;
}

/** Turns accumulated text into a message. */
function flush(state: SessionState, update?: A2AStatusUpdate): SessionState {
  if (state.text === "") {
    return state;
  }
  const message: A2AMessage = {
    kind: "message",
    messageId: `text-${shown(state).length}`,
    role: "agent",
    parts: [{ kind: "text", text: state.text }],
    ...(update === undefined ? {} : { taskId: update.taskId, contextId: update.contextId }),
    ...(update?.metadata === undefined ? {} : { metadata: update.metadata }),
  };
  return { ...state, text: "", partial: false, streaming: [...state.streaming, message] };
}

function known(state: SessionState, messageId: string): boolean {
  return shown(state).some((message) => message.messageId === messageId);
}

/** Adds a message unless it is already shown: the first status repeats the user's message. */
function add(state: SessionState, message: A2AMessage): SessionState {
  return known(state, message.messageId)
    ? state
    : { ...state, streaming: [...state.streaming, message] };
}

/** Adds or replaces a message. */
function put(state: SessionState, message: A2AMessage): SessionState {
  const same = (one: A2AMessage): boolean => one.messageId === message.messageId;
  return state.streaming.some(same)
    ? { ...state, streaming: state.streaming.map((one) => (same(one) ? message : one)) }
    : { ...state, streaming: [...state.streaming, message] };
}
