import type {
  AuthRequired,
  ContentComplete,
  ErrorFact,
  InputRequired,
  JsonObject,
  ParleyEvent,
  TaskComplete,
  TaskCreated,
  TaskStatus,
  ThoughtStream,
  ToolComplete,
  ToolProgress,
  ToolStart,
} from "./events.js";
import { answeredCall, startedCall, counted, endedCalls } from "./model-calls.js";
import type { Block, Question, Retry, Task, Thought, ToolCall } from "./state.js";
import type { StreamedEvent } from "./stream.js";
import type { TaskState } from "./types.js";

const ENDED: readonly TaskState[] = ["completed", "failed", "canceled"];

/** True if a task in this state has ended. */
export function hasEnded(status: TaskState): boolean {
  return ENDED.includes(status);
}

/** Creates a task. */
export function created(event: TaskCreated, taskId: string): Task {
  return {
    taskId,
    contextId: event.contextId,
    ...optional("parentTaskId", event.parentTaskId),
    rootTaskId: event.rootTaskId ?? taskId,
    agentId: event.agentId ?? "",
    agentLevel: event.agentLevel ?? (event.parentTaskId === undefined ? "core" : "subagent"),
    ...optional("invocationId", event.invocationId),
    ...optional("spawnedByCallId", event.spawnedByCallId),
    seq: event.seq,
    status: "submitted",
    initiator: event.initiator,
    ...optional("messageId", event.messageId),
    ...optional("prompt", event.prompt),
    ...optional("taskType", event.taskType),
    ...optional("priority", event.priority),
    ...optional("timeoutMs", event.timeoutMs),
    ...optional("workingDirectory", event.workingDirectory),
    createdAt: event.timestamp,
    updatedAt: event.timestamp,
    ...optional("metadata", event.metadata),
    ...NOTHING_DONE,
  };
}

/** The work of a task without known events. */
export const NOTHING_DONE = {
  named: undefined,
  written: [],
  blockedBy: undefined,
  retry: undefined,
  iteration: undefined,
  endedSeq: undefined,
  answeredSeq: 0,
  blocks: [],
  calls: [],
  thoughts: [],
  questions: [],
  modelCalls: [],
} as const satisfies Partial<Task>;

/** Applies an event to its task. */
export function taskAfter(before: Task, event: StreamedEvent): Task {
  // The next event of the task ends the retry.
  const task = before.retry === undefined ? before : { ...before, retry: undefined };
  switch (event.kind) {
    case "task-status":
      return withStatus(task, event);
    case "task-complete":
      return complete(task, event);
    case "cancel-requested":
      return { ...task, cancelRequested: true, updatedAt: event.timestamp };
    case "error":
      return fail(task, event);
    case "content-delta":
      return { ...task, blocks: extended(task.blocks, event) };
    case "content-complete":
      return {
        ...task,
        blocks: finished(task.blocks, event),
        modelCalls: answeredCall(task.modelCalls, event),
      };
    case "tool-start":
      return { ...task, calls: withCall(task.calls, event.toolCallId, () => started(event)) };
    case "tool-progress":
      return {
        ...task,
        calls: withCall(task.calls, event.toolCallId, (call) => progressed(call, event)),
      };
    case "tool-complete":
      return {
        ...task,
        calls: withCall(task.calls, event.toolCallId, (call) => ended(call, event)),
      };
    case "thought-stream":
      return { ...task, thoughts: withThought(task.thoughts, event) };
    case "internal:llm-call":
      return {
        ...task,
        iteration: event.iteration,
        modelCalls: startedCall(task.modelCalls, event),
      };
    case "usage":
      return { ...task, modelCalls: counted(task.modelCalls, event) };
    case "message":
      return event.role === "assistant" ? { ...task, answeredSeq: event.seq } : task;
    case "input-required":
    case "auth-required":
      return { ...task, questions: [...task.questions, question(event)] };
    default:
      return task; // No other event changes its task.
  }
}

/** Applies an answer, a sign-in or an expiry to the task that asked. */
export function taskAfterAnswer(task: Task, event: ParleyEvent): Task {
  switch (event.kind) {
    case "input-received":
      return answered(task, event.inputId, {
        status: "answered",
        value: event.value,
        providedBy: event.providedBy,
      });
    case "auth-completed":
      return answered(task, event.authId, { status: "answered" });
    case "input-lapsed":
      return answered(task, event.inputId, { status: "lapsed" });
    case "auth-lapsed":
      return answered(task, event.authId, { status: "lapsed" });
    default:
      return task; // No other event is an answer.
  }
}

function withStatus(task: Task, event: TaskStatus): Task {
  const { message: _, endedAt: __, error, ...rest } = task;
  const over = hasEnded(event.status);
  const retry = over ? undefined : retryIn(event.metadata);
  // A retry is temporary and does not describe the task.
  const metadata = retry === undefined ? merged(task.metadata, event.metadata) : task.metadata;
  const next: Task = {
    ...rest,
    status: event.status,
    ...optional("message", event.message),
    updatedAt: event.timestamp,
    ...(over ? { endedAt: event.timestamp } : {}),
    endedSeq: over ? (task.endedSeq ?? event.seq) : undefined,
    // A completed task has recovered from its error.
    ...(event.status === "completed" ? {} : optional("error", error)),
    ...optional("metadata", metadata),
    blockedBy: blocker(event.status, metadata),
    retry,
  };
  return over ? closed(next) : next;
}

/** The retry that the metadata of a status reports, if any. */
function retryIn(metadata: JsonObject | undefined): Retry | undefined {
  const retry = metadata?.["retry"];
  if (typeof retry !== "object" || retry === null || Array.isArray(retry)) {
    return undefined;
  }
  const { attempt, maxAttempts, delayMs, reason } = retry as JsonObject;
  return {
    attempt: Number(attempt ?? 0),
    maxAttempts: Number(maxAttempts ?? 0),
    delayMs: Number(delayMs ?? 0),
    reason: typeof reason === "string" ? reason : "",
  };
}

/** Describes a retry: `Retrying (2 of 5): the model's server failed`. */
export function retryText({ attempt, maxAttempts, reason }: Retry): string {
  return `Retrying (${attempt} of ${maxAttempts})${reason === "" ? "" : `: ${reason}`}`;
}

/** The task that this task waits for, if any. */
export function blocker(status: TaskState, metadata: JsonObject | undefined): string | undefined {
  const blockedBy = metadata?.["blockedBy"];
  const waits = status !== "working" && !hasEnded(status);
  return waits && typeof blockedBy === "string" ? blockedBy : undefined;
}

function complete(task: Task, event: TaskComplete): Task {
  const { content: _, ...rest } = task;
  return closed({
    ...rest,
    status: "completed",
    ...optional("content", event.content),
    named: event.artifacts,
    updatedAt: event.timestamp,
    endedAt: task.endedAt ?? event.timestamp,
    endedSeq: task.endedSeq ?? event.seq,
    ...optional("metadata", merged(task.metadata, event.metadata)),
    blockedBy: undefined,
  });
}

/** Closes everything that the task left open. */
function closed(task: Task): Task {
  return {
    ...task,
    modelCalls: endedCalls(task.modelCalls, task.endedAt),
    blocks: task.blocks.map((block) =>
      block.done ? block : { ...block, done: true, partial: true },
    ),
    calls: task.calls.map((call) =>
      call.status === "running" ? { ...call, status: "abandoned" } : call,
    ),
    questions: task.questions.map((one) =>
      one.status === "open" ? { ...one, status: "lapsed" } : one,
    ),
  };
}

function fail(task: Task, event: ErrorFact): Task {
  if (event.scope !== "task") {
    return task;
  }
  const { code, message, retryable } = event;
  return { ...task, error: { code, message, retryable }, updatedAt: event.timestamp };
}

function extended(
  blocks: readonly Block[],
  event: Extract<StreamedEvent, { kind: "content-delta" }>,
): readonly Block[] {
  const firstSeq = event.fromSeq ?? event.seq;
  const at = blocks.findIndex((block) => !block.done && block.blockId === event.blockId);
  const open = blocks[at];
  if (open === undefined) {
    return [...blocks, newBlock(event.blockId, firstSeq, event.delta)];
  }
  // A merged delta that starts with the block contains all of its text.
  const text = firstSeq <= open.firstSeq ? event.delta : open.text + event.delta;
  return blocks.map((block, i) => (i === at ? { ...open, text } : block));
}

function newBlock(blockId: string | undefined, firstSeq: number, text: string): Block {
  const end = { done: false, partial: false, finishReason: undefined, replaced: false };
  return { blockId, firstSeq, text, ...end };
}

function finished(blocks: readonly Block[], event: ContentComplete): readonly Block[] {
  const same = (block: Block): boolean =>
    block.blockId === event.blockId && (event.blockId !== undefined || !block.done);
  const known = blocks.some(same) ? blocks : [...blocks, newBlock(event.blockId, event.seq, "")];
  return known.map((block) => {
    if (same(block)) {
      return {
        ...block,
        text: event.content,
        done: true,
        partial: event.partial ?? false,
        finishReason: event.finishReason,
      };
    }
    const replaced = event.replaces !== undefined && block.blockId === event.replaces;
    return replaced ? { ...block, replaced } : block;
  });
}

function withCall(
  calls: readonly ToolCall[],
  toolCallId: string,
  change: (call: ToolCall | undefined) => ToolCall,
): readonly ToolCall[] {
  const known = calls.some((call) => call.toolCallId === toolCallId);
  return known
    ? calls.map((call) => (call.toolCallId === toolCallId ? change(call) : call))
    : [...calls, change(undefined)];
}

function started(event: ToolStart): ToolCall {
  return {
    ...unknownCall(event.toolCallId, event.seq),
    toolName: event.toolName,
    arguments: event.arguments,
    attempt: event.attempt ?? 1,
    subagents: event.subagentMetadata,
    startedAt: event.timestamp,
  };
}

/** A call whose start is not loaded. */
function unknownCall(toolCallId: string, seq: number): ToolCall {
  return {
    toolCallId,
    toolName: "",
    arguments: undefined,
    seq,
    attempt: 1,
    status: "running",
    progress: undefined,
    progressMessage: undefined,
    result: undefined,
    error: undefined,
    outcome: undefined,
    subagents: undefined,
    startedAt: undefined,
    endedAt: undefined,
  };
}

function progressed(call: ToolCall | undefined, event: ToolProgress): ToolCall {
  return {
    ...(call ?? unknownCall(event.toolCallId, event.seq)),
    progress: event.progress,
    progressMessage: event.message ?? call?.progressMessage,
  };
}

function ended(call: ToolCall | undefined, event: ToolComplete): ToolCall {
  return {
    ...(call ?? unknownCall(event.toolCallId, event.seq)),
    toolName: event.toolName,
    status: event.success ? "succeeded" : "failed",
    result: event.result,
    error: event.error,
    outcome: event.outcome,
    subagents: event.subagentMetadata ?? call?.subagents,
    endedAt: event.timestamp,
  };
}

function withThought(thoughts: readonly Thought[], event: ThoughtStream): readonly Thought[] {
  const last = thoughts.findIndex((thought) => thought.thoughtId === event.thoughtId);
  const known = thoughts[last];
  if (known === undefined) {
    const { thoughtId, thoughtType, verbosity, seq, content, metadata } = event;
    return [...thoughts, { thoughtId, thoughtType, verbosity, seq, text: content, metadata }];
  }
  const grown = {
    ...known,
    text: known.text + event.content,
    metadata: merged(known.metadata, event.metadata),
  };
  return thoughts.map((thought, i) => (i === last ? grown : thought));
}

function question(event: InputRequired | AuthRequired): Question {
  const isInput = event.kind === "input-required";
  return {
    id: isInput ? event.inputId : event.authId,
    kind: isInput ? "input" : "auth",
    prompt: event.prompt,
    seq: event.seq,
    status: "open",
    value: undefined,
    providedBy: undefined,
  };
}

function answered(task: Task, id: string, outcome: Partial<Question>): Task {
  if (!task.questions.some((one) => one.id === id)) {
    return task;
  }
  return {
    ...task,
    questions: task.questions.map((one) => (one.id === id ? { ...one, ...outcome } : one)),
  };
}

/** Merges metadata: null removes a key. */
export function merged(
  before: JsonObject | undefined,
  change: JsonObject | undefined,
): JsonObject | undefined {
  if (before === undefined || change === undefined) {
    return before ?? change;
  }
  return Object.fromEntries(
    Object.entries({ ...before, ...change }).filter(([name]) => change[name] !== null),
  );
}

/** An object with this field, or without it if the value is undefined. */
export function optional<K extends string, V>(name: K, value: V | undefined): { [key in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [key in K]: V });
}
