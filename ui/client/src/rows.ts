import type { JsonObject } from "./events.js";
import type { ArtifactVersion, Block, Question, Thought, ToolCall } from "./state.js";
import { hasEnded } from "./task-events.js";
import type { MessageInfo } from "./types.js";
import type { ContextView, TaskNode } from "./view.js";

/** A row of a conversation. Its `key` never changes. */
export type Row = MessageRow | StepRow | EndRow;

/** A message; `task` is the task that it started. */
export interface MessageRow {
  readonly kind: "message";
  readonly key: string;
  readonly message: MessageInfo;
  readonly task: TaskNode | undefined;
  /** True if a task was working when the message was sent: a rewind to it is not possible. */
  readonly meanwhile: boolean;
}

/** A step of a task. */
export type StepRow = { readonly key: string; readonly task: TaskNode } & Step;

/** The status or outcome of a root task. */
export interface EndRow {
  readonly kind: "end";
  readonly key: string;
  readonly task: TaskNode;
}

/** A step of a task, at its position in the log. */
export type Step =
  | {
      readonly kind: "text";
      readonly seq: number;
      readonly block: Block;
      /** True if it was interrupted and the task continued. */
      readonly cut: boolean;
    }
  | { readonly kind: "thought"; readonly seq: number; readonly thought: Thought }
  | { readonly kind: "question"; readonly seq: number; readonly question: Question }
  | { readonly kind: "steer"; readonly seq: number; readonly message: MessageInfo }
  /** A version of an artifact that the task writes. */
  | { readonly kind: "artifact"; readonly seq: number; readonly version: ArtifactVersion }
  | {
      readonly kind: "call";
      readonly seq: number;
      readonly call: ToolCall;
      /** The sub-agents that this call spawned. */
      readonly children: readonly TaskNode[];
    }
  /** Sub-agents whose tool call is unknown. */
  | { readonly kind: "children"; readonly seq: number; readonly children: readonly TaskNode[] };

/** The progress of sub-agents. */
export interface Progress {
  readonly total: number;
  /** Completed, failed or stopped. */
  readonly ended: number;
  readonly failed: number;
  readonly stopped: number;
}

/** Nodes are immutable, so the steps of unchanged tasks are reused. */
const stepsCache = new WeakMap<TaskNode, readonly Step[]>();
const SINGLE_AGENT_STRATEGIES = ["single", "delegate"];

/** The rows of a conversation: messages, and the steps of tasks, in order. */
export function rowsOf(view: ContextView): Row[] {
  const tasks = new Map(view.tasks.map((task) => [task.taskId, task]));
  const asked = new Map(view.tasks.map((task) => [task.messageId, task]));
  const messages = view.conversation.flatMap((one) =>
    one.kind === "message" ? [one.message] : [],
  );
  const answers = byTask(messages.filter((one) => one.role === "assistant"));
  const steering = byTask(messages.filter((one) => isSteering(one, tasks)));
  const steers = new Set([...steering.values()].flat());
  const next = currentTaskOf(view);
  const waits = (task: TaskNode | undefined): boolean =>
    task?.status === "submitted" && task !== next;
  // A snapshot can contain tasks whose messages it leaves out; they are not shown.
  const begins = view.hasEarlierMessages ? (messages[0]?.seq ?? Infinity) : 0;
  const known = (task: TaskNode): boolean => task.seq > begins || answers.has(task.taskId);
  const working = workingIn(view.tasks);
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
    const meanwhile = working(message.seq);
    rows.push({ kind: "message", key, message, task: root, meanwhile, at: message.seq });
  }
  for (const task of view.tasks.filter((one) => !waits(one) && known(one))) {
    for (const step of stepsOf(answeringTaskOf(task), steering.get(task.taskId))) {
      rows.push({ ...step, key: keyOfStep(step), task, at: task.seq });
    }
    // The answer follows the task's steps, even if other messages came in between.
    for (const message of hasFullText(task) ? [] : (answers.get(task.taskId) ?? [])) {
      const key = `m-${message.messageId}`;
      rows.push({ kind: "message", key, message, task: undefined, meanwhile: false, at: task.seq });
    }
    rows.push({ kind: "end", key: `e-${task.taskId}`, task, at: task.seq });
  }
  // The sort is stable: rows of one position stay in order.
  return distinct(rows.sort((a, b) => a.at - b.at).map(({ at: _, ...row }) => row));
}

/** Models may reuse a call id; keys must be unique. */
function distinct(rows: Row[]): Row[] {
  const keys = new Set<string>();
  return rows.map((row, i) => {
    const key = keys.has(row.key) ? `${row.key}~${i}` : row.key;
    keys.add(key);
    return key === row.key ? row : { ...row, key };
  });
}

/** A predicate for whether one of these tasks was working just before an event. */
function workingIn(tasks: readonly TaskNode[]): (seq: number) => boolean {
  // For each task in order: the latest end of the tasks so far.
  const ends: { readonly from: number; readonly to: number }[] = [];
  for (const task of tasks) {
    const to = hasEnded(task.status) ? (task.endedSeq ?? 0) : Infinity;
    ends.push({ from: task.seq, to: Math.max(to, ends.at(-1)?.to ?? 0) });
  }
  let next = 0;
  return (seq) => {
    // Called in log order.
    while ((ends[next]?.from ?? Infinity) < seq) {
      next++;
    }
    return (ends[next - 1]?.to ?? 0) >= seq;
  };
}

/** The root task that is working, or else the first one in the queue. */
export function currentTaskOf(view: ContextView): TaskNode | undefined {
  return view.active ?? view.queue[0];
}

/** The agent of the latest request; undefined if the server chose it. */
export function chosenAgentOf(view: ContextView | undefined): string | undefined {
  const agentId = view?.tasks.filter((task) => task.messageId !== undefined).at(-1)?.agentId;
  return agentId === "supervisor" ? undefined : agentId || undefined;
}

/** True if all text of the task is loaded, so that its answer need not be shown separately. */
function hasFullText(task: TaskNode): boolean {
  const voice = answeringTaskOf(task);
  return voice.text !== "" && (!hasEnded(task.status) || voice.blocks.some((one) => one.done));
}

/** The task whose text is the answer: the task itself, or the only agent that handles it. */
export function answeringTaskOf(task: TaskNode): TaskNode {
  const routing = task.metadata?.["routing"] as JsonObject | undefined;
  const strategy = routing?.["strategy"];
  const [only, ...others] = task.children;
  const speaks = typeof strategy === "string" && SINGLE_AGENT_STRATEGIES.includes(strategy);
  return speaks && only !== undefined && others.length === 0 ? only : task;
}

/** True if the message steers a running task. */
function isSteering(message: MessageInfo, tasks: ReadonlyMap<string, TaskNode>): boolean {
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

/** The steps of a task, in log order. */
export function stepsOf(task: TaskNode, steers: readonly MessageInfo[] = []): readonly Step[] {
  const known = steers.length === 0 ? stepsCache.get(task) : undefined;
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
    stepsCache.set(task, steps);
  }
  return steps;
}

/** An interrupted block is marked only if the task continued after it. */
function isCut(task: TaskNode, block: Block): boolean {
  const goesOn = !hasEnded(task.status) || task.blocks.some((one) => one.firstSeq > block.firstSeq);
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

/** The progress of these sub-agents and all their descendants. */
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

/** The row of an event or a task; -1 if there is none. */
export function rowAt(
  rows: readonly Row[],
  seq: number | undefined,
  taskId: string | undefined,
): number {
  if (seq === undefined && taskId === undefined) {
    return -1;
  }
  const within = rows.findIndex(
    (row) => (row.kind === "call" || row.kind === "children") && containsTask(row.children, taskId),
  );
  if (within >= 0 || seq === undefined) {
    return within;
  }
  let found = -1;
  let best = 1;
  rows.forEach((row, i) => {
    // The footer of a task without a loaded answer has no position.
    const at = seqOfRow(row);
    if (at <= seq && at >= best) {
      best = at;
      found = i;
    }
  });
  return found;
}

/**
 * The index of a row, or of the row that replaced it: an answer is one row until its task is
 * loaded, and several rows afterwards.
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

/** True if the task is one of these or a descendant. */
export function containsTask(tasks: readonly TaskNode[], taskId: string | undefined): boolean {
  return (
    taskId !== undefined &&
    tasks.some((task) => task.taskId === taskId || containsTask(task.children, taskId))
  );
}

function seqOfRow(row: Row): number {
  switch (row.kind) {
    case "message":
      return row.message.seq;
    case "end":
      return row.task.answeredSeq;
    default:
      return row.seq;
  }
}

/** The last event of a fork that ends with this task; undefined for all events. */
export function forkSeqAfter(rows: readonly Row[], task: TaskNode): number | undefined {
  const later = rows.find(
    (row) => row.kind === "message" && row.message.seq > task.seq && row.task,
  );
  return later?.kind === "message" ? later.message.seq - 1 : undefined;
}

/** The rendered rows, from `from` up to but excluding `to`. */
export interface RowWindow {
  readonly from: number;
  readonly to: number;
}

const STEP = 100;
const ROWS_MAX = 4 * STEP;

/**
 * The rows to render: those from `start` on, or the last ones if `start` is undefined. The window
 * moves in steps, so that rows change rarely.
 */
export function windowOf(count: number, start: number | undefined): RowWindow {
  if (start === undefined || start < 0) {
    const from = Math.max(0, Math.ceil((count - 2 * STEP) / STEP) * STEP);
    return { from, to: count };
  }
  return { from: start, to: Math.min(count, start + ROWS_MAX) };
}
windowOf.step = STEP;
