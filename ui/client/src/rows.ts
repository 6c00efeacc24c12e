import type { JsonObject } from "./events.js";
import type { ArtifactVersion, Block, Question, Thought, ToolCall } from "./state.js";
import { hasEnded } from "./task-events.js";
import type { MessageInfo } from "./types.js";
import type { ContextView, TaskNode } from "./view.js";

/** What stands on one row of a conversation, from top to bottom. `key` is the same for ever. */
export type Row = SaidRow | StepRow | EndRow;

/** Somebody said something; `task` is what it led to. */
export interface SaidRow {
  readonly kind: "said";
  readonly key: string;
  readonly message: MessageInfo;
  readonly task: TaskNode | undefined;
  /** True if a task was at work when it was said: then there is no going back to before it. */
  readonly meanwhile: boolean;
}

/** One thing that a task does. */
export type StepRow = { readonly key: string; readonly task: TaskNode } & Step;

/** How a root task ended, or what it is doing. */
export interface EndRow {
  readonly kind: "end";
  readonly key: string;
  readonly task: TaskNode;
}

/** One thing that a task does, at its place in the log. */
export type Step =
  | {
      readonly kind: "text";
      readonly seq: number;
      readonly block: Block;
      /** True if it was cut off, and the task went on after that. */
      readonly cut: boolean;
    }
  | { readonly kind: "thought"; readonly seq: number; readonly thought: Thought }
  | { readonly kind: "question"; readonly seq: number; readonly question: Question }
  | { readonly kind: "steer"; readonly seq: number; readonly message: MessageInfo }
  /** Something that it writes, or has written, in one version. */
  | { readonly kind: "artifact"; readonly seq: number; readonly version: ArtifactVersion }
  | {
      readonly kind: "call";
      readonly seq: number;
      readonly call: ToolCall;
      /** The sub-agents that this call spawned. */
      readonly children: readonly TaskNode[];
    }
  /** Sub-agents whose call is not known. */
  | { readonly kind: "children"; readonly seq: number; readonly children: readonly TaskNode[] };

/** How far sub-agents are. */
export interface Progress {
  readonly total: number;
  /** However they ended: done, failed or stopped. */
  readonly ended: number;
  readonly failed: number;
  readonly stopped: number;
}

/** Nodes are never changed in place: those of tasks at rest need not be gone through again. */
const made = new WeakMap<TaskNode, readonly Step[]>();
const SPEAKS_FOR = ["single", "delegate"];

/** What a conversation looks like: what was said, and what tasks do, each where it belongs. */
export function rowsOf(view: ContextView): Row[] {
  const tasks = new Map(view.tasks.map((task) => [task.taskId, task]));
  const asked = new Map(view.tasks.map((task) => [task.messageId, task]));
  const messages = view.conversation.flatMap((one) =>
    one.kind === "message" ? [one.message] : [],
  );
  const answers = byTask(messages.filter((one) => one.role === "assistant"));
  const steering = byTask(messages.filter((one) => steersOne(one, tasks)));
  const steers = new Set([...steering.values()].flat());
  const next = currentOf(view);
  const waits = (task: TaskNode | undefined): boolean =>
    task?.status === "submitted" && task !== next;
  // Of what a snapshot leaves out it may know tasks: without what was said, they say nothing.
  const begins = view.hasEarlierMessages ? (messages[0]?.seq ?? Infinity) : 0;
  const known = (task: TaskNode): boolean => task.seq > begins || answers.has(task.taskId);
  const atWork = atWorkIn(view.tasks);
  const rows: (Row & { at: number })[] = [];
  for (const message of messages) {
    if (message.role === "assistant" && tasks.has(message.taskId ?? "")) {
      continue;
    }
    const root = asked.get(message.messageId);
    if (steers.has(message) || waits(root)) {
      continue;
    }
    const key = `m-${message.messageId}`;
    const meanwhile = atWork(message.seq);
    rows.push({ kind: "said", key, message, task: root, meanwhile, at: message.seq });
  }
  for (const task of view.tasks.filter((one) => !waits(one) && known(one))) {
    for (const step of stepsOf(voiceOf(task), steering.get(task.taskId))) {
      rows.push({ ...step, key: keyOfStep(step), task, at: task.seq });
    }
    // Its answer stands with it, whatever others have said before it was given.
    for (const message of tellsItself(task) ? [] : (answers.get(task.taskId) ?? [])) {
      const key = `m-${message.messageId}`;
      rows.push({ kind: "said", key, message, task: undefined, meanwhile: false, at: task.seq });
    }
    rows.push({ kind: "end", key: `e-${task.taskId}`, task, at: task.seq });
  }
  // Stable: what has one place stays in the order in which it was put there.
  return distinct(rows.sort((a, b) => a.at - b.at).map(({ at: _, ...row }) => row));
}

/** Models may use the name of a call again: of two rows with one key, a page would lose one. */
function distinct(rows: Row[]): Row[] {
  const keys = new Set<string>();
  return rows.map((row, i) => {
    const key = keys.has(row.key) ? `${row.key}~${i}` : row.key;
    keys.add(key);
    return key === row.key ? row : { ...row, key };
  });
}

/** A test for whether one of these tasks was surely at work right before an event. */
function atWorkIn(tasks: readonly TaskNode[]): (seq: number) => boolean {
  // For each task in their order: where the last of those up to it ended.
  const ends: { readonly from: number; readonly to: number }[] = [];
  for (const task of tasks) {
    const to = hasEnded(task.status) ? (task.endedSeq ?? 0) : Infinity;
    ends.push({ from: task.seq, to: Math.max(to, ends.at(-1)?.to ?? 0) });
  }
  let next = 0;
  return (seq) => {
    // Asked in the order of the log.
    while ((ends[next]?.from ?? Infinity) < seq) {
      next++;
    }
    return (ends[next - 1]?.to ?? 0) >= seq;
  };
}

/** The root task that is at work, or else the first in line; what others wait for. */
export function currentOf(view: ContextView): TaskNode | undefined {
  return view.active ?? view.queue[0];
}

/** The agent that was chosen for what was asked last; nothing if that was left to the server. */
export function askedIn(view: ContextView | undefined): string | undefined {
  const agentId = view?.tasks.filter((task) => task.messageId !== undefined).at(-1)?.agentId;
  return agentId === "supervisor" ? undefined : agentId || undefined;
}

/** True if all that the task said is known piece by piece, so that its answer need not be shown. */
function tellsItself(task: TaskNode): boolean {
  const voice = voiceOf(task);
  return voice.text !== "" && (!hasEnded(task.status) || voice.blocks.some((one) => one.done));
}


/** Whose words are the answer: the task's own, or those of the one agent that does it all. */
export function voiceOf(task: TaskNode): TaskNode {
  const routing = task.metadata?.["routing"] as JsonObject | undefined;
  const strategy = routing?.["strategy"];
  const [only, ...others] = task.children;
  const speaks = typeof strategy === "string" && SPEAKS_FOR.includes(strategy);
  return speaks && only !== undefined && others.length === 0 ? only : task;
}

/** True if it was said to a task at work. */
function steersOne(message: MessageInfo, tasks: ReadonlyMap<string, TaskNode>): boolean {
  const task = tasks.get(message.taskId ?? "");
  return message.role === "user" && task !== undefined && task.messageId !== message.messageId;
}

function byTask(messages: readonly MessageInfo[]): ReadonlyMap<string, readonly MessageInfo[]> {
  const lists = new Map<string, MessageInfo[]>();
  for (const one of messages) {
    const list = lists.get(one.taskId ?? "");
    if (list === undefined) {
      lists.set(one.taskId ?? "", [one]);
    } else {
      list.push(one);
    }
  }
  return lists;
}

/** What a task does, in the order of the log. */
export function stepsOf(
  task: TaskNode,
  steers: readonly MessageInfo[] = [],
): readonly Step[] {
  const known = steers.length === 0 ? made.get(task) : undefined;
  if (known !== undefined) {
    return known;
  }
  const steps: Step[] = [
    ...task.blocks
      .filter((block) => !block.replaced && block.text !== "")
      .map((block): Step => {
        const cut = isCut(task, block);
        return { kind: "text", seq: block.firstSeq, block, cut };
      }),
    ...task.thoughts.map((thought): Step => ({ kind: "thought", seq: thought.seq, thought })),
    ...task.questions.map((question): Step => ({ kind: "question", seq: question.seq, question })),
    ...steers.map((message): Step => ({ kind: "steer", seq: message.seq, message })),
    ...task.versions.map((one): Step => ({ kind: "artifact", seq: one.firstSeq, version: one })),
  ];
  const calls = new Set(task.calls.map((call) => call.toolCallId));
  for (const call of task.calls) {
    const children = task.children.filter((one) => one.spawnedByCallId === call.toolCallId);
    steps.push({ kind: "call", seq: call.seq, call, children });
  }
  const others = task.children.filter((one) => !calls.has(one.spawnedByCallId ?? ""));
  const [first] = others;
  if (first !== undefined) {
    steps.push({ kind: "children", seq: first.seq, children: others });
  }
  steps.sort((a, b) => a.seq - b.seq);
  if (steers.length === 0) {
    made.set(task, steps);
  }
  return steps;
}

/** Where a task ended, its end says why; what people stopped is not cut off. */
function isCut(task: TaskNode, block: Block): boolean {
  const goesOn =
    !hasEnded(task.status) || task.blocks.some((one) => one.firstSeq > block.firstSeq);
  return block.partial && block.finishReason === "interrupted" && goesOn;
}

export function keyOfStep(step: Step): string {
  switch (step.kind) {
    case "text":
      return `b-${step.block.blockId ?? step.seq}`;
    case "thought":
      return `t-${step.thought.thoughtId}`;
    case "question":
      return `q-${step.question.id}`;
    case "steer":
      return `m-${step.message.messageId}`;
    case "artifact":
      return `w-${step.seq}`;
    case "call":
      return `c-${step.call.toolCallId}`;
    case "children":
      return `s-${step.children[0]?.taskId ?? step.seq}`;
  }
}

/** How far these sub-agents are, with everything below them. */
export function progressOf(tasks: readonly TaskNode[]): Progress {
  return tasks.reduce<Progress>(
    (sum, task) => {
      const below = progressOf(task.children);
      return {
        total: sum.total + 1 + below.total,
        ended: sum.ended + Number(hasEnded(task.status)) + below.ended,
        failed: sum.failed + Number(task.status === "failed") + below.failed,
        stopped: sum.stopped + Number(task.status === "canceled") + below.stopped,
      };
    },
    { total: 0, ended: 0, failed: 0, stopped: 0 },
  );
}

/** The row that an event stands on, or a task; -1 if there is none. */
export function rowAt(
  rows: readonly Row[],
  seq: number | undefined,
  taskId: string | undefined,
): number {
  if (seq === undefined && taskId === undefined) {
    return -1;
  }
  const within = rows.findIndex(
    (row) => (row.kind === "call" || row.kind === "children") && holds(row.children, taskId),
  );
  if (within >= 0 || seq === undefined) {
    return within;
  }
  let found = -1;
  let best = 1;
  rows.forEach((row, i) => {
    // A task that has not answered, or did so before what is loaded, has its last line nowhere.
    const at = seqOfRow(row);
    if (at <= seq && at >= best) {
      best = at;
      found = i;
    }
  });
  return found;
}

/**
 * Where a row is among others, or what stands in its place: an answer is one row before all of its
 * task is known, and several after.
 */
export function indexOfRow(rows: readonly Row[], row: Row): number {
  const same = rows.findIndex((one) => one.key === row.key);
  if (same >= 0) {
    return same;
  }
  const seq = row.kind === "end" ? row.task.seq : seqOfRow(row);
  const words = rows.filter((one) => one.kind !== "end");
  const instead = words[rowAt(words, seq, undefined)];
  return instead === undefined ? -1 : rows.indexOf(instead);
}

/** True if the task is one of these, or below one. */
export function holds(tasks: readonly TaskNode[], taskId: string | undefined): boolean {
  return (
    taskId !== undefined &&
    tasks.some((task) => task.taskId === taskId || holds(task.children, taskId))
  );
}

function seqOfRow(row: Row): number {
  switch (row.kind) {
    case "said":
      return row.message.seq;
    case "end":
      return row.task.answeredSeq;
    default:
      return row.seq;
  }
}

/** Up to where a fork is to go that has all of this task and nothing after it; all, if nothing. */
export function endOf(rows: readonly Row[], task: TaskNode): number | undefined {
  const later = rows.find((row) => row.kind === "said" && row.message.seq > task.seq && row.task);
  return later?.kind === "said" ? later.message.seq - 1 : undefined;
}

/** Which rows are in the page: from, and up to but without. */
export interface RowWindow {
  readonly from: number;
  readonly to: number;
}

const STEP = 100;
const ROWS_MAX = 4 * STEP;

/**
 * Which of `count` rows are in the page: those from `start` on, or the last ones if nobody has
 * chosen where to start. It moves in steps, so that rows seldom come and go.
 */
export function windowOf(count: number, start: number | undefined): RowWindow {
  if (start === undefined || start < 0) {
    const from = Math.max(0, Math.ceil((count - 2 * STEP) / STEP) * STEP);
    return { from, to: count };
  }
  return { from: start, to: Math.min(count, start + ROWS_MAX) };
}
windowOf.step = STEP;
