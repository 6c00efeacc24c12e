import type { ParleyEvent } from "./events.js";
import { type Announced, type Facts, factsOf, type WorkflowEvent } from "./timeline-facts.js";
import type { TaskState } from "./types.js";

type AnyEvent = ParleyEvent | WorkflowEvent;

/** An event, what matters of it, and its place among the events that there are: 0, 1, 2, … */
export interface Note<E> {
  readonly event: E;
  readonly facts: Facts;
  readonly at: number;
}

/** The events of one sub-agent, by itself. */
export interface Branch<E> {
  readonly taskId: string;
  readonly parent: string;
  readonly spawnedBy: string | undefined;
  readonly invocation: string | undefined;
  readonly first: number;
  readonly notes: Note<E>[];
}

/** Where a call begins, as far as is known, and what it says of the sub-agents it spawns. */
interface Spawn {
  readonly task: string;
  readonly at: number;
  readonly tool: string;
  readonly announced: Announced | undefined;
}

const OVER: readonly TaskState[] = ["completed", "failed", "canceled"];

/** Events apart by sub-agent, and what they say of each other. */
export class Branches<E extends AnyEvent> {
  readonly main: Note<E>[] = [];
  readonly subtasks = new Map<string, Branch<E>>();
  readonly calls = new Map<string, Spawn>();
  readonly asked = new Map<string, { parent: string; at: number; agentId: string | undefined }>();
  private readonly ended = new Map<string, TaskState>();

  constructor(events: Iterable<E>) {
    inOrder(events).forEach((note) => this.add(note));
  }

  /** What the call that begins with this event says of its sub-agents. */
  announced(note: Note<E>): Announced | undefined {
    const { call, taskId } = note.facts;
    const spawn =
      call && taskId !== undefined ? this.calls.get(callKey(taskId, call.id)) : undefined;
    return spawn?.at === note.at ? spawn.announced : undefined;
  }

  /** Who works on the task. */
  agent(taskId: string): string | undefined {
    const notes = this.subtasks.get(taskId)?.notes ?? [];
    const known = notes.find((note) => note.facts.begins) ?? notes[0];
    return this.asked.get(taskId)?.agentId ?? known?.facts.agentId;
  }

  /** Where the task stands, by its own word or else by its parent's. */
  status(taskId: string): TaskState {
    let status: TaskState = "submitted";
    for (const note of this.subtasks.get(taskId)?.notes ?? []) {
      status = note.facts.status ?? status;
    }
    return OVER.includes(status) ? status : (this.ended.get(taskId) ?? status);
  }

  private add(note: Note<E>): void {
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
      this.learn(taskId, note);
    }
  }

  private learn(task: string, { facts, at }: Note<E>): void {
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
 * Where each sub-agent stands in its parent's timeline.
 *
 * It says so itself, or its call does. In logs that have neither, it belongs to the last call of
 * its parent before it that looks like one that spawns, or else to the first. Where no such call is
 * seen, it stands where its parent asked for it, together with those of the same invocation.
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

  /** The place of the event at which the sub-agent stands, if that has come. */
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
    spawn.announced?.taskIds.forEach((task) => setIfAbsent(this.announced, task, spawn.at));
    if (spawn.announced !== undefined || looksSpawning(spawn.tool.toLowerCase())) {
      this.spawning.set(spawn.task, [...(this.spawning.get(spawn.task) ?? []), spawn.at]);
    }
  }

  private batch(task: string, parent: string): string {
    const branch = this.branches.subtasks.get(task);
    return JSON.stringify([parent, branch?.spawnedBy ?? branch?.invocation ?? task]);
  }
}

/** The events in their order, each once. Where they have no numbers, as they came. */
function inOrder<E extends AnyEvent>(events: Iterable<E>): Note<E>[] {
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

function looksSpawning(tool: string): boolean {
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
