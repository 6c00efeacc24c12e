import type { ParleyEvent } from "./events.js";
import { type Announced, type Facts, factsOf, type WorkflowEvent } from "./timeline-facts.js";
import type { TaskState } from "./types.js";

type AnyEvent = ParleyEvent | WorkflowEvent;

/** An event with its facts and its index: 0, 1, 2, … */
export interface IndexedEvent<E> {
  readonly event: E;
  readonly facts: Facts;
  readonly at: number;
}

/** The events of one sub-agent. */
export interface Branch<E> {
  readonly taskId: string;
  readonly parent: string;
  readonly spawnedBy: string | undefined;
  readonly invocation: string | undefined;
  readonly first: number;
  readonly notes: IndexedEvent<E>[];
}

/** The first known event of a call, and the sub-agents that it announces. */
interface Spawn {
  readonly task: string;
  readonly at: number;
  readonly tool: string;
  readonly announced: Announced | undefined;
}

const ENDED: readonly TaskState[] = ["completed", "failed", "canceled"];

/** Events grouped by sub-agent, with the relations between them. */
export class Branches<E extends AnyEvent> {
  readonly main: IndexedEvent<E>[] = [];
  readonly subtasks = new Map<string, Branch<E>>();
  readonly calls = new Map<string, Spawn>();
  readonly asked = new Map<string, { parent: string; at: number; agentId: string | undefined }>();
  private readonly ended = new Map<string, TaskState>();

  constructor(events: Iterable<E>) {
    for (const note of inOrder(events)) {
      this.add(note);
    }
  }

  /** The sub-agents that the call starting at this event announces. */
  announced(note: IndexedEvent<E>): Announced | undefined {
    const { call, taskId } = note.facts;
    const spawn =
      call && taskId !== undefined ? this.calls.get(callKey(taskId, call.id)) : undefined;
    return spawn?.at === note.at ? spawn.announced : undefined;
  }

  /** The agent of the task. */
  agent(taskId: string): string | undefined {
    const notes = this.subtasks.get(taskId)?.notes ?? [];
    const known = notes.find((note) => note.facts.begins) ?? notes[0];
    return this.asked.get(taskId)?.agentId ?? known?.facts.agentId;
  }

  /** The status of the task, from its own events or its parent's. */
  status(taskId: string): TaskState {
    let status: TaskState = "submitted";
    for (const note of this.subtasks.get(taskId)?.notes ?? []) {
      status = note.facts.status ?? status;
    }
    return ENDED.includes(status) ? status : (this.ended.get(taskId) ?? status);
  }

  private add(note: IndexedEvent<E>): void {
    const { taskId, parentTaskId, spawnedBy, invocation } = note.facts;
    if (taskId === undefined || parentTaskId === undefined) {
      this.main.push(note);
    } else {
      const known = this.subtasks.get(taskId);
      if (known === undefined) {
        const branch = { taskId, parent: parentTaskId, spawnedBy, invocation };
        this.subtasks.set(taskId, { ...branch, first: note.at, notes: [note] });
      } else {
        known.notes.push(note);
      }
    }
    if (taskId !== undefined) {
      this.index(taskId, note);
    }
  }

  private index(task: string, { facts, at }: IndexedEvent<E>): void {
    if (facts.call !== undefined) {
      const { id, tool, announced } = facts.call;
      const known = this.calls.get(callKey(task, id));
      this.calls.set(
        callKey(task, id),
        known === undefined
          ? { task, at, tool, announced }
          : { ...known, announced: announced ?? known.announced },
      );
    }
    if (facts.asked !== undefined && !this.asked.has(facts.asked.taskId)) {
      this.asked.set(facts.asked.taskId, { parent: task, at, agentId: facts.asked.agentId });
    }
    if (facts.ended !== undefined) {
      this.ended.set(facts.ended.taskId, facts.ended.status);
    }
  }
}

/**
 * Finds the position of each sub-agent in its parent's timeline.
 *
 * The sub-agent or its call names the position. In logs that have neither, the sub-agent belongs to
 * the parent's last call before it that looks like a spawning call, or else to the first one.
 * Without such a call, it is placed where its parent created it, together with others of the same
 * invocation.
 */
export class Anchors<E extends AnyEvent> {
  private readonly announced = new Map<string, number>();
  private readonly spawning = new Map<string, number[]>();
  private readonly batches = new Map<string, number>();

  constructor(private readonly branches: Branches<E>) {
    for (const spawn of branches.calls.values()) {
      this.index(spawn);
    }
    for (const [task, { parent, at }] of branches.asked) {
      setIfAbsent(this.batches, this.batch(task, parent), at);
    }
  }

  /** The index of the event at which the sub-agent is placed, if it is known. */
  of(branch: Branch<E>): number | undefined {
    const batch = this.batches.get(this.batch(branch.taskId, branch.parent));
    if (branch.spawnedBy !== undefined) {
      return this.branches.calls.get(callKey(branch.parent, branch.spawnedBy))?.at ?? batch;
    }
    const calls = this.spawning.get(branch.parent) ?? [];
    const before = calls.filter((at) => at < branch.first).at(-1) ?? calls[0];
    return this.announced.get(branch.taskId) ?? before ?? batch;
  }

  private index(spawn: Spawn): void {
    for (const task of spawn.announced?.taskIds ?? []) {
      setIfAbsent(this.announced, task, spawn.at);
    }
    if (spawn.announced !== undefined || isSpawningTool(spawn.tool.toLowerCase())) {
      this.spawning.set(spawn.task, [...(this.spawning.get(spawn.task) ?? []), spawn.at]);
    }
  }

  private batch(task: string, parent: string): string {
    const branch = this.branches.subtasks.get(task);
    return JSON.stringify([parent, branch?.spawnedBy ?? branch?.invocation ?? task]);
  }
}

/** The events in order, without duplicates. Events without numbers keep their order. */
function inOrder<E extends AnyEvent>(events: Iterable<E>): IndexedEvent<E>[] {
  const seen = new Set<string>();
  const notes: { event: E; facts: Facts }[] = [];
  for (const event of events) {
    const facts = factsOf(event);
    const id = "event_id" in event ? event.event_id : undefined;
    const key = facts.seq === undefined ? id : `${facts.seq}.${facts.k}`;
    if (key === undefined || !seen.has(String(key))) {
      seen.add(String(key));
      notes.push({ event, facts });
    }
  }
  if (notes.every(({ facts }) => facts.seq !== undefined)) {
    notes.sort((a, b) => (a.facts.seq ?? 0) - (b.facts.seq ?? 0) || a.facts.k - b.facts.k);
  }
  return notes.map((note, at) => ({ ...note, at }));
}

function isSpawningTool(tool: string): boolean {
  return ["subagent", "subagents"].includes(tool) || /^agent[:_]/.test(tool);
}

function callKey(task: string, call: string): string {
  return JSON.stringify([task, call]);
}

function setIfAbsent<K, V>(map: Map<K, V>, key: K, value: V): void {
  if (!map.has(key)) {
    map.set(key, value);
  }
}
