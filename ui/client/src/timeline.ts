import type { ParleyEvent } from "./events.js";
import { Anchors, Branches } from "./timeline-anchors.js";
import type { WorkflowEvent } from "./timeline-facts.js";
import type { TaskState } from "./types.js";

/** An item of a timeline: an event, or the sub-agents of a call. */
export type TimelineItem<E> = PlainItem<E> | SubagentGroup<E>;

export interface PlainItem<E> {
  readonly kind: "event";
  readonly event: E;
}

export interface SubagentGroup<E> {
  readonly kind: "subagentGroup";
  /** The event that started it. */
  readonly trigger: E;
  readonly threads: readonly SubagentThread<E>[];
  /** For a collapsed card. */
  readonly progress: BatchProgress;
}

/** The items of one sub-agent. Empty while it is only announced. */
export interface SubagentThread<E> {
  readonly taskId: string;
  readonly agentId: string | undefined;
  readonly status: TaskState;
  readonly items: readonly TimelineItem<E>[];
}

/** The progress of a call's sub-agents and their descendants; `failed` includes canceled ones. */
export interface BatchProgress {
  readonly total: number;
  readonly completed: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly tokens: number;
  readonly toolCalls: number;
}

/** A timeline of events. `orphans` are sub-agents whose call is unknown. */
export interface Timeline<E> {
  readonly items: readonly TimelineItem<E>[];
  readonly orphans: readonly SubagentThread<E>[];
}

/** The events of sub-agents, by task. */
export type SubagentGroups<E> = ReadonlyMap<string, readonly E[]>;

type AnyEvent = ParleyEvent | WorkflowEvent;

/**
 * Builds the timeline of one context's events, in either dialect: a sub-agent's events are placed
 * at the call that spawned it, to any depth.
 *
 * The result does not depend on the order or repetition of the input. Every event occurs once.
 * Rewound events are included.
 */
export function timelineOf<E extends AnyEvent>(events: Iterable<E>): Timeline<E> {
  return new TimelineBuilder(new Branches(events)).timeline();
}

/** Places sub-agents at the events that spawned them; leaves out orphans. */
export function buildUnifiedTimeline<E extends AnyEvent>(
  mainStream: Iterable<E>,
  groups: SubagentGroups<E>,
): readonly TimelineItem<E>[] {
  return timelineOf([...mainStream, ...[...groups.values()].flat()]).items;
}

/** Splits events into the main stream and sub-agents by task. */
export function splitStreams<E extends AnyEvent>(
  events: Iterable<E>,
): { mainStream: E[]; groups: Map<string, E[]> } {
  const branches = new Branches(events);
  const groups = new Map<string, E[]>();
  for (const branch of branches.subtasks.values()) {
    groups.set(
      branch.taskId,
      branch.notes.map((note) => note.event),
    );
  }
  return { mainStream: branches.main.map((note) => note.event), groups };
}

/** A stable key of an item, for UI state such as collapsed cards. */
export function keyOf<E extends AnyEvent>(item: TimelineItem<E>): string {
  const event: AnyEvent = item.kind === "event" ? item.event : item.trigger;
  const id =
    "event_type" in event ? (event as WorkflowEvent).event_id : (event as ParleyEvent).eventId;
  return id ?? `${event.seq}`;
}

const NONE: BatchProgress = {
  total: 0,
  completed: 0,
  succeeded: 0,
  failed: 0,
  tokens: 0,
  toolCalls: 0,
};
const ENDED: readonly TaskState[] = ["completed", "failed", "canceled"];

/** Builds one timeline. */
class TimelineBuilder<E extends AnyEvent> {
  private readonly spawned = new Map<number, string[]>();
  private readonly orphanIds: string[] = [];
  private readonly placed = new Set<string>();

  constructor(private readonly branches: Branches<E>) {
    const anchors = new Anchors(branches);
    for (const branch of branches.subtasks.values()) {
      const anchor = anchors.of(branch);
      if (anchor === undefined) {
        this.orphanIds.push(branch.taskId);
      } else {
        this.spawned.set(anchor, [...(this.spawned.get(anchor) ?? []), branch.taskId]);
      }
    }
  }

  timeline(): Timeline<E> {
    const items = this.items(this.branches.main).items;
    const orphans = this.orphanIds.map((task) => this.thread(task).thread);
    for (const task of this.branches.subtasks.keys()) {
      // Happens only if tasks name each other as parents.
      if (!this.placed.has(task)) {
        orphans.push(this.thread(task).thread);
      }
    }
    return { items, orphans };
  }

  private items(notes: Branches<E>["main"]): {
    items: TimelineItem<E>[];
    tokens: number;
    toolCalls: number;
  } {
    const items: TimelineItem<E>[] = [];
    let tokens = 0;
    let toolCalls = 0;
    for (const note of notes) {
      const group = this.group(note);
      items.push(group ?? { kind: "event", event: note.event });
      tokens += note.facts.tokens + (group?.progress.tokens ?? 0);
      toolCalls += note.facts.toolCalls + (group?.progress.toolCalls ?? 0);
    }
    return { items, tokens, toolCalls };
  }

  private group(note: Branches<E>["main"][number]): SubagentGroup<E> | undefined {
    const children = this.spawned.get(note.at) ?? [];
    const announced = this.branches.announced(note);
    if (children.length === 0 && announced === undefined) {
      return undefined;
    }
    const first = (announced?.taskIds ?? []).filter(
      (task) => children.includes(task) || !this.branches.subtasks.has(task),
    );
    const order = [...new Set([...first, ...children])].filter((task) => !this.placed.has(task));
    let progress = { ...NONE, total: Math.max(announced?.count ?? 0, order.length) };
    const threads = order.map((task) => {
      const { thread, tokens, toolCalls } = this.thread(task);
      progress = plus(progress, thread.status, tokens, toolCalls);
      return thread;
    });
    return { kind: "subagentGroup", trigger: note.event, threads, progress };
  }

  private thread(taskId: string): { thread: SubagentThread<E>; tokens: number; toolCalls: number } {
    this.placed.add(taskId);
    const { items, tokens, toolCalls } = this.items(
      this.branches.subtasks.get(taskId)?.notes ?? [],
    );
    const agentId = this.branches.agent(taskId);
    const thread = { taskId, agentId, status: this.branches.status(taskId), items };
    return { thread, tokens, toolCalls };
  }
}

function plus(
  sum: BatchProgress,
  status: TaskState,
  tokens: number,
  toolCalls: number,
): BatchProgress {
  const ended = ENDED.includes(status) ? 1 : 0;
  const succeeded = status === "completed" ? 1 : 0;
  return {
    total: sum.total,
    completed: sum.completed + ended,
    succeeded: sum.succeeded + succeeded,
    failed: sum.failed + ended - succeeded,
    tokens: sum.tokens + tokens,
    toolCalls: sum.toolCalls + toolCalls,
  };
}
