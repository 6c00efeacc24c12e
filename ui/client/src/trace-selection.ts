import type { ParleyEvent } from "./events.js";
import { callKey, modelKey, type Span, taskKey } from "./spans.js";
import type { ContextView, TaskNode } from "./view.js";

/** The selected item, as the log, the waterfall and the conversation identify it. */
export interface TraceSelection {
  /** The span that contains it. */
  readonly span: string | undefined;
  readonly taskId: string | undefined;
  /** The row of the conversation that contains it. */
  readonly row: string | undefined;
  /** The event, if an event is selected. */
  readonly seq: number | undefined;
  readonly k: number;
}

/** The first characters of step keys. */
const STEPS = "bctqw";

/** The selection of an event. */
export function selectionOfEvent(view: ContextView, event: ParleyEvent): TraceSelection {
  const task = event.taskId === undefined ? undefined : find(view.tasks, event.taskId);
  return {
    span: spanOf(task, event),
    taskId: event.taskId,
    row: rowOf(task, event),
    seq: event.seq,
    k: event.k ?? 0,
  };
}

/** The selection of a span. */
export function selectionOfSpan(view: ContextView, span: Span): TraceSelection {
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

/** The selection of a row of the conversation. */
export function selectionOfRow(view: ContextView, row: string): TraceSelection | undefined {
  const id = row.slice(2);
  for (const task of flat(view.tasks)) {
    const found = ownSpan(task, row.charAt(0), id);
    if (found !== undefined) {
      return { span: found, taskId: task.taskId, row, seq: undefined, k: 0 };
    }
  }
  return undefined;
}

/** The row keys that show the selection, innermost first: some may be collapsed. */
export function rowKeysOf(view: ContextView, { row, taskId }: TraceSelection): readonly string[] {
  const above = pathTo(view.tasks, taskId).map((id) => `a-${id}`);
  return row === undefined ? above : [row, ...above];
}

/** The row key of an event or task in a sub-agent's thread; undefined if it is not in one. */
export function innerRowKey(
  view: ContextView,
  taskId: string | undefined,
  event: ParleyEvent | undefined,
): string | undefined {
  if (taskId === undefined || pathTo(view.tasks, taskId).length < 2) {
    return undefined;
  }
  const row = event && selectionOfEvent(view, event).row;
  return row !== undefined && STEPS.includes(row.charAt(0)) ? row : `a-${taskId}`;
}

/** True if an event belongs to the selection. */
export function isSelected(selection: TraceSelection | undefined, own: TraceSelection): boolean {
  if (selection === undefined) {
    return false;
  }
  if (selection.seq !== undefined) {
    return selection.seq === own.seq && selection.k === own.k;
  }
  const whole = selection.taskId !== undefined && selection.span === taskKey(selection.taskId);
  return (
    selection.span !== undefined &&
    (whole ? selection.taskId === own.taskId : selection.span === own.span)
  );
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
      return taskKey(task.taskId); // All other events belong to the task itself.
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

/** The model call that was open at an event. */
function callAt(task: TaskNode, seq: number): string | undefined {
  const call = lastUpTo(task.modelCalls, "seq", seq);
  return call && modelKey(task.taskId, call);
}

/** The last of these up to `seq`. */
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

/** The ids of a task and its ancestors, innermost first. */
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
