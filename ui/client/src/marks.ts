import type { ParleyEvent } from "./events.js";
import { callKey, modelKey, type Span, taskKey } from "./spans.js";
import type { ContextView, TaskNode } from "./view.js";

/** One thing that is looked at, as the log, the waterfall and the conversation know it. */
export interface Mark {
  /** The span it belongs to. */
  readonly span: string | undefined;
  readonly taskId: string | undefined;
  /** The row of the conversation that it stands on. */
  readonly row: string | undefined;
  /** The event, if it is one. */
  readonly seq: number | undefined;
  readonly k: number;
}

/** What keys of steps begin with. */
const STEPS = "bctqw";

/** What an event is part of. */
export function markOfEvent(view: ContextView, event: ParleyEvent): Mark {
  const task = event.taskId === undefined ? undefined : find(view.tasks, event.taskId);
  return {
    span: spanOf(task, event),
    taskId: event.taskId,
    row: rowOf(task, event),
    seq: event.seq,
    k: event.k ?? 0,
  };
}

/** What a span is, elsewhere. */
export function markOfSpan(view: ContextView, span: Span): Mark {
  const task = find(view.tasks, span.taskId);
  const row =
    span.kind === "tool"
      ? `c-${span.key.slice(callKey("").length)}`
      : span.kind === "model"
        ? blockRow(task, span.seq)
        : task?.messageId === undefined
          ? `a-${span.taskId}`
          : `m-${task.messageId}`;
  return { span: span.key, taskId: span.taskId, row, seq: undefined, k: 0 };
}

/** What a row of the conversation is, elsewhere. */
export function markOfRow(view: ContextView, row: string): Mark | undefined {
  const id = row.slice(2);
  for (const task of flat(view.tasks)) {
    const found = ownSpan(task, row.charAt(0), id);
    if (found !== undefined) {
      return { span: found, taskId: task.taskId, row, seq: undefined, k: 0 };
    }
  }
  return undefined;
}

/** The places in a conversation where something stands, the nearest first: some may be folded. */
export function placesOf(view: ContextView, { row, taskId }: Mark): readonly string[] {
  const above = pathTo(view.tasks, taskId).map((id) => `a-${id}`);
  return row === undefined ? above : [row, ...above];
}

/** What of a sub-agent's thread an event or a task is; nothing, if it is in none. */
export function innerPlace(
  view: ContextView,
  taskId: string | undefined,
  event: ParleyEvent | undefined,
): string | undefined {
  if (taskId === undefined || pathTo(view.tasks, taskId).length < 2) {
    return undefined;
  }
  const row = event && markOfEvent(view, event).row;
  return row !== undefined && STEPS.includes(row.charAt(0)) ? row : `a-${taskId}`;
}

/** True if an event is part of what is looked at. */
export function marks(mark: Mark | undefined, own: Mark): boolean {
  if (mark === undefined) {
    return false;
  }
  if (mark.seq !== undefined) {
    return mark.seq === own.seq && mark.k === own.k;
  }
  const whole = mark.taskId !== undefined && mark.span === taskKey(mark.taskId);
  return mark.span !== undefined && (whole ? mark.taskId === own.taskId : mark.span === own.span);
}

function ownSpan(task: TaskNode, kind: string, id: string): string | undefined {
  switch (kind) {
    case "c":
      return task.calls.some((call) => call.toolCallId === id) ? callKey(id) : undefined;
    case "b": {
      const block = task.blocks.find((one) => (one.blockId ?? `${one.firstSeq}`) === id);
      return block && (callAt(task, block.firstSeq) ?? taskKey(task.taskId));
    }
    case "t": {
      const thought = task.thoughts.find((one) => one.thoughtId === id);
      return thought && (callAt(task, thought.seq) ?? taskKey(task.taskId));
    }
    case "q":
      return task.questions.some((one) => one.id === id) ? taskKey(task.taskId) : undefined;
    case "w":
      return task.versions.some((one) => `${one.firstSeq}` === id)
        ? taskKey(task.taskId)
        : undefined;
    case "m":
      return task.messageId === id ? taskKey(task.taskId) : undefined;
    case "a":
    case "e":
      return task.taskId === id ? taskKey(task.taskId) : undefined;
    default:
      return undefined;
  }
}

function spanOf(task: TaskNode | undefined, event: ParleyEvent): string | undefined {
  if ("toolCallId" in event && event.toolCallId !== undefined) {
    return callKey(event.toolCallId);
  }
  if (task === undefined) {
    return event.taskId === undefined ? undefined : taskKey(event.taskId);
  }
  switch (event.kind) {
    case "content-delta":
    case "content-complete":
    case "thought-stream":
    case "usage":
    case "internal:llm-call":
    case "internal:thought-process":
      return callAt(task, event.seq) ?? taskKey(task.taskId);
    default:
      return taskKey(task.taskId); // Everything else is the task's own.
  }
}

function rowOf(task: TaskNode | undefined, event: ParleyEvent): string | undefined {
  if ("toolCallId" in event && event.toolCallId !== undefined) {
    return `c-${event.toolCallId}`;
  }
  switch (event.kind) {
    case "content-delta":
    case "content-complete":
      return `b-${event.blockId ?? lastUpTo(task?.blocks ?? [], "firstSeq", event.seq)?.firstSeq}`;
    case "thought-stream":
      return `t-${event.thoughtId}`;
    case "input-required":
    case "input-received":
    case "input-lapsed":
      return `q-${event.inputId}`;
    case "auth-required":
    case "auth-completed":
    case "auth-lapsed":
      return `q-${event.authId}`;
    case "message":
      return `m-${event.messageId}`;
    case "file-write":
    case "data-write":
    case "dataset-write": {
      const own = task?.versions.filter((one) => one.artifactId === event.artifactId) ?? [];
      return `w-${lastUpTo(own, "firstSeq", event.seq)?.firstSeq}`;
    }
    default:
      return task === undefined ? undefined : `e-${task.taskId}`;
  }
}

/** The question to a model that was open at an event. */
function callAt(task: TaskNode, seq: number): string | undefined {
  const call = lastUpTo(task.modelCalls, "seq", seq);
  return call && modelKey(task.taskId, call);
}

/** The last of these, in their order, that is no later. */
function lastUpTo<K extends string, T extends { readonly [key in K]: number }>(
  facts: readonly T[],
  place: K,
  seq: number,
): T | undefined {
  return facts.filter((one) => one[place] <= seq).at(-1);
}

function blockRow(task: TaskNode | undefined, seq: number): string | undefined {
  const block = task?.blocks.find((one) => one.firstSeq >= seq);
  return block && `b-${block.blockId ?? block.firstSeq}`;
}

/** A task and all above it, from the inside out. */
function pathTo(tasks: readonly TaskNode[], taskId: string | undefined): readonly string[] {
  for (const task of tasks) {
    if (task.taskId === taskId) {
      return [task.taskId];
    }
    const below = pathTo(task.children, taskId);
    if (below.length > 0) {
      return [...below, task.taskId];
    }
  }
  return [];
}

function find(tasks: readonly TaskNode[], taskId: string): TaskNode | undefined {
  for (const task of tasks) {
    const found = task.taskId === taskId ? task : find(task.children, taskId);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

function flat(tasks: readonly TaskNode[]): readonly TaskNode[] {
  return tasks.flatMap((task) => [task, ...flat(task.children)]);
}
