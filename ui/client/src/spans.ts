import type { ParsedPosition } from "./position.js";
import type { ModelCall, ToolCall } from "./state.js";
import { hasEnded, retryText } from "./task-events.js";
import { tokensOf } from "./tokens.js";
import type { ContextView, TaskNode } from "./view.js";

/** A task, model call or tool call with its duration. */
export interface Span {
  /** Never changes. */
  readonly key: string;
  readonly kind: "task" | "model" | "tool";
  readonly label: string;
  readonly taskId: string;
  readonly depth: number;
  /** The position in the log where it begins; `k` is 0 unless that event is an internal one. */
  readonly seq: number;
  readonly k: number;
  readonly status: "open" | "waiting" | "done" | "failed" | "stopped";
  /** In milliseconds since 1970. Open spans last until now. */
  readonly start: number;
  readonly end: number;
  /** For a task, including its descendants. */
  readonly tokens: number | undefined;
  readonly costUsd: number | undefined;
  /** The retry of the model request, if it is retried now. */
  readonly retry: string | undefined;
  /** The number of descendant rows. */
  readonly below: number;
  readonly folded: boolean;
}

/** Spans on a time axis. */
export interface Waterfall {
  readonly rows: readonly Span[];
  readonly axis: Axis;
}

/** A time range in which a task was working. */
interface TimeRange {
  readonly start: number;
  end: number;
}

/** The time axis, which leaves out idle time. */
export class Axis {
  /** The total time on the axis. */
  readonly length: number;

  constructor(private readonly ranges: readonly TimeRange[]) {
    this.length = ranges.reduce((sum, one) => sum + one.end - one.start, 0);
  }

  /** The position of a time, from 0 to 1. */
  at(time: number): number {
    let before = 0;
    for (const { start, end } of this.ranges) {
      if (time <= end) {
        return this.part(before + Math.max(0, time - start));
      }
      before += end - start;
    }
    return 1;
  }

  /** The positions of the gaps, from 0 to 1. */
  get cuts(): readonly number[] {
    return this.ranges.slice(1).map((range) => this.at(range.start));
  }

  private part(length: number): number {
    return this.length === 0 ? 0 : length / this.length;
  }
}

const NOTHING_FOLDED: ReadonlySet<string> = new Set();

/**
 * The tree of tasks and calls with time and cost. Pure: open spans last until `time`, or until the
 * newest event if that is later or `time` is missing.
 */
export function waterfallOf(
  view: ContextView,
  folded: ReadonlySet<string> = NOTHING_FOLDED,
  time = 0,
): Waterfall {
  const now = Math.max(time, Date.parse(view.updatedAt ?? "") || 0);
  const rows = view.tasks.flatMap((task) => spansOf(task, 0, now, folded));
  const ranges: TimeRange[] = [];
  for (const { start, end } of rows.filter((row) => row.depth === 0)) {
    const last = ranges.at(-1);
    if (last !== undefined && start <= last.end) {
      last.end = Math.max(last.end, end);
    } else {
      ranges.push({ start, end });
    }
  }
  return { rows, axis: new Axis(ranges) };
}

function spansOf(
  task: TaskNode,
  depth: number,
  now: number,
  folded: ReadonlySet<string>,
): readonly Span[] {
  const key = taskKey(task.taskId);
  const parts: { readonly at: number; readonly spans: readonly Span[] }[] = [
    ...task.modelCalls.map((call) => ({
      at: call.seq,
      spans: [modelSpan(task, call, depth + 1, now)],
    })),
    ...task.calls.map((call) => {
      const children = task.children.filter((one) => one.spawnedByCallId === call.toolCallId);
      return { at: call.seq, spans: toolSpans(task, call, children, depth + 1, now, folded) };
    }),
    ...task.children
      .filter((child) => !task.calls.some((call) => call.toolCallId === child.spawnedByCallId))
      .map((child) => ({ at: child.seq, spans: spansOf(child, depth + 1, now, folded) })),
  ];
  const below = parts.sort((a, b) => a.at - b.at).flatMap((part) => part.spans);
  const { calls, costUsd } = task.totals;
  const asking = task.modelCalls.at(-1)?.endedAt === undefined && task.modelCalls.length > 0;
  const start = Date.parse(task.createdAt);
  const self: Span = {
    key,
    kind: "task",
    label: task.agentId,
    taskId: task.taskId,
    depth,
    seq: task.seq,
    k: 0,
    status: statusOf(task),
    start,
    end: Math.max(start, hasEnded(task.status) ? timeOf(task.endedAt, now) : now),
    tokens: calls > 0 ? tokensOf(task.totals) : undefined,
    costUsd,
    retry: asking ? undefined : retryOf(task),
    below: below.length,
    folded: folded.has(key) && below.length > 0,
  };
  return self.folded ? [self] : [self, ...below];
}

function retryOf({ retry }: TaskNode): string | undefined {
  return retry && retryText(retry);
}

function statusOf(task: TaskNode): Span["status"] {
  switch (task.status) {
    case "completed":
      return "done";
    case "failed":
      return "failed";
    case "canceled":
      return "stopped";
    case "working":
      return "open";
    default:
      return "waiting";
  }
}

function modelSpan(task: TaskNode, call: ModelCall, depth: number, now: number): Span {
  const end = timeOf(call.endedAt, now);
  return {
    key: modelKey(task.taskId, call),
    kind: "model",
    label: call.model,
    taskId: task.taskId,
    depth,
    seq: call.seq,
    k: call.k,
    status: call.endedAt === undefined ? "open" : "done",
    start: timeOf(call.startedAt, end),
    end,
    tokens: call.counted ? tokensOf(call) : undefined,
    costUsd: call.costUsd,
    retry: call.endedAt === undefined ? retryOf(task) : undefined,
    below: 0,
    folded: false,
  };
}

function toolSpans(
  task: TaskNode,
  call: ToolCall,
  children: readonly TaskNode[],
  depth: number,
  now: number,
  folded: ReadonlySet<string>,
): readonly Span[] {
  const key = callKey(call.toolCallId);
  const below = children.flatMap((child) => spansOf(child, depth + 1, now, folded));
  const ended = timeOf(call.endedAt ?? (call.status === "running" ? undefined : task.endedAt), now);
  const self: Span = {
    key,
    kind: "tool",
    label: call.toolName === "" ? "tool" : call.toolName,
    taskId: task.taskId,
    depth,
    seq: call.seq,
    k: 0,
    status: statusOfCall(call),
    start: timeOf(call.startedAt, ended),
    end: ended,
    tokens: undefined,
    costUsd: undefined,
    retry: undefined,
    below: below.length,
    folded: folded.has(key) && below.length > 0,
  };
  return self.folded ? [self] : [self, ...below];
}

function statusOfCall({ status, outcome }: ToolCall): Span["status"] {
  if (status === "running" || status === "succeeded") {
    return status === "running" ? "open" : "done";
  }
  return outcome === "canceled" ? "stopped" : "failed";
}

function timeOf(timestamp: string | undefined, usual: number): number {
  return timestamp === undefined ? usual : Date.parse(timestamp);
}

export function taskKey(taskId: string): string {
  return `task-${taskId}`;
}

export function callKey(toolCallId: string): string {
  return `call-${toolCallId}`;
}

export function modelKey(taskId: string, { seq, k }: ParsedPosition): string {
  return `model-${taskId}-${seq}.${k}`;
}
