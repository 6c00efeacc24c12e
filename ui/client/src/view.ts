import type { AuthRequired, InputRequired, JsonObject } from "./events.js";
import { type Position, formatPosition } from "./position.js";
import { asRead, readable } from "./reduce.js";
import { activeAt, type SeqRange } from "./rewind.js";
import type { ArtifactVersion, Block, ContextState, Failure, Task } from "./state.js";
import { hasEnded } from "./task-events.js";
import { titleOf } from "./title.js";
import { NO_TOKENS, type Tokens } from "./tokens.js";
import type { MessageInfo, UsageInfo } from "./types.js";

/** The view of a context: all active facts, and the branches that rewinds removed. */
export interface ContextView {
  readonly contextId: string;
  readonly position: Position;
  /** True if the view may be wrong until a new snapshot is loaded. */
  readonly stale: boolean;
  readonly title: string | undefined;
  readonly owner: string;
  readonly metadata: JsonObject | undefined;
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
  readonly forkedFrom: ContextState["forkedFrom"];
  readonly hasEarlierMessages: boolean;
  /** Messages and the current drafts of root tasks, in order. */
  readonly conversation: readonly (MessageEntry | Draft)[];
  /** Root tasks with their descendants, oldest first. */
  readonly tasks: readonly TaskNode[];
  /** Root tasks that have not started, oldest first. */
  readonly queue: readonly TaskNode[];
  /** The root task that is working or waiting, if any. */
  readonly active: TaskNode | undefined;
  readonly pendingInputs: readonly InputRequired[];
  readonly pendingAuths: readonly AuthRequired[];
  readonly artifacts: readonly ArtifactView[];
  readonly usage: readonly UsageInfo[];
  readonly totals: Totals;
  readonly state: JsonObject;
  /** The branches that rewinds removed, oldest first. */
  readonly branches: readonly Branch[];
  readonly errors: readonly Failure[];
}

export interface MessageEntry {
  readonly kind: "message";
  readonly message: MessageInfo;
}

/** The text of a root task before its answer message. */
export interface Draft {
  readonly kind: "draft";
  readonly taskId: string;
  readonly agentId: string;
  readonly seq: number;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** A task with its children. */
export interface TaskNode extends Task {
  readonly children: readonly TaskNode[];
  readonly artifacts: readonly string[];
  /** The known versions that it wrote. */
  readonly versions: readonly ArtifactVersion[];
  /** Its text, without replaced blocks. */
  readonly text: string;
  /** The usage of its model calls and those of its descendants. */
  readonly totals: Totals;
}

/** The usage of model calls. */
export interface Totals extends Tokens {
  readonly calls: number;
  readonly costUsd: number | undefined;
}

/** An artifact in its latest version, with all its active known versions. */
export interface ArtifactView extends ArtifactVersion {
  readonly latestVersion: number;
  readonly versions: readonly ArtifactVersion[];
}

/** The branch that a rewind removed. */
export interface Branch {
  readonly rewoundAt: number;
  readonly range: SeqRange;
  readonly messages: readonly MessageInfo[];
  readonly taskIds: readonly string[];
}

const views = new WeakMap<ContextState, ContextView>();
/** Unchanged tasks keep their node, so that the page need not redraw them. */
const nodes = new WeakMap<Task, TaskNode>();

/** The view of a state. Pure, and computed once for each state. */
export function view(state: ContextState): ContextView {
  const known = views.get(state);
  if (known !== undefined) {
    return known;
  }
  const made = make(state);
  views.set(state, made);
  return made;
}

function make(state: ContextState): ContextView {
  const counts = activeAt(state.rewinds, state.seq);
  const messages = readable(state);
  const tasks = tree(state, counts);
  const spent = state.usage.filter((one) => counts(one.seq));
  let left: readonly Branch[] | undefined;
  return {
    contextId: state.contextId,
    position: formatPosition(state),
    stale: state.stale,
    title: state.title ?? titleOf(messages),
    owner: state.owner,
    metadata: state.metadata,
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
    forkedFrom: state.forkedFrom,
    hasEarlierMessages: state.hasEarlierMessages,
    conversation: conversation(messages, tasks),
    tasks,
    queue: tasks.filter((task) => task.status === "submitted"),
    active: tasks.find((task) => task.status !== "submitted" && !hasEnded(task.status)),
    pendingInputs: state.pendingInputs,
    pendingAuths: state.pendingAuths,
    artifacts: artifacts(state, counts),
    usage: sums(spent),
    totals: total(spent),
    state: values(state, counts),
    // Computed on demand: it is rarely needed and expensive after many rewinds.
    get branches() {
      left ??= branches(state, counts);
      return left;
    },
    errors: state.errors.filter((one) => counts(one.seq)),
  };
}

function conversation(
  messages: readonly MessageInfo[],
  roots: readonly TaskNode[],
): readonly (MessageEntry | Draft)[] {
  const said = messages.map((message): MessageEntry => ({ kind: "message", message }));
  const drafts = roots.flatMap((task): Draft[] => {
    const blocks = task.blocks.filter((one) => !one.replaced && one.firstSeq > task.answeredSeq);
    const text = textOf(blocks);
    const { taskId, agentId } = task;
    const seq = blocks[0]?.firstSeq ?? task.seq;
    return text === "" || hasEnded(task.status)
      ? []
      : [{ kind: "draft", taskId, agentId, seq, text, blocks }];
  });
  const place = (one: MessageEntry | Draft): number =>
    one.kind === "message" ? one.message.seq : one.seq;
  return [...said, ...drafts].sort((a, b) => place(a) - place(b));
}

function textOf(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.replaced ? "" : block.text)).join("");
}

function tree(state: ContextState, counts: (seq: number) => boolean): TaskNode[] {
  const tasks = Object.values(state.tasks)
    .filter((task) => counts(task.seq))
    .sort((a, b) => a.seq - b.seq);
  const known = new Set(tasks.map((task) => task.taskId));
  const below = new Map<string, Task[]>();
  const roots: Task[] = [];
  for (const task of tasks) {
    // A task whose parent is not in the snapshot becomes a root.
    if (task.parentTaskId === undefined || !known.has(task.parentTaskId)) {
      roots.push(task);
    } else {
      add(below, task.parentTaskId, task);
    }
  }
  const spent = new Map<string, ContextState["usage"][number][]>();
  for (const one of state.usage) {
    if (one.taskId !== undefined && counts(one.seq)) {
      add(spent, one.taskId, one);
    }
  }
  const written = new Map<string, ArtifactVersion[]>();
  for (const one of state.versions) {
    if (one.taskId !== undefined && counts(one.firstSeq)) {
      add(written, one.taskId, one);
    }
  }
  const node = (task: Task): TaskNode => {
    const children = (below.get(task.taskId) ?? []).map(node);
    const own = total(spent.get(task.taskId) ?? []);
    const totals = children.reduce((sum, child) => plus(sum, child.totals), own);
    const known = nodes.get(task);
    const versions = written.get(task.taskId) ?? [];
    const still = known !== undefined && same(known.versions, versions);
    if (still && same(known.children, children) && equal(known.totals, totals)) {
      return known;
    }
    const artifacts = task.named ?? task.written;
    const made = { ...task, children, artifacts, versions, text: textOf(task.blocks), totals };
    nodes.set(task, made);
    return made;
  };
  return roots.map(node);
}

function add<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) {
    lists.set(key, [value]);
  } else {
    list.push(value);
  }
}

function same<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}

function equal(a: Totals, b: Totals): boolean {
  return (
    a.calls === b.calls &&
    a.inputTokens === b.inputTokens &&
    a.outputTokens === b.outputTokens &&
    a.cacheCreationInputTokens === b.cacheCreationInputTokens &&
    a.cacheReadInputTokens === b.cacheReadInputTokens &&
    a.costUsd === b.costUsd
  );
}

function artifacts(state: ContextState, counts: (seq: number) => boolean): ArtifactView[] {
  const byId = new Map<string, ArtifactVersion[]>();
  for (const version of state.versions.filter((one) => counts(one.firstSeq))) {
    add(byId, version.artifactId, version);
  }
  return [...byId.values()]
    .flatMap((versions) => {
      const latest = versions.at(-1);
      return latest === undefined ? [] : [{ ...latest, latestVersion: latest.version, versions }];
    })
    .sort((a, b) => a.begin - b.begin);
}

function sums(spent: ContextState["usage"]): UsageInfo[] {
  const models = [...new Set(spent.map((one) => one.model))].sort();
  return models.map((model) => {
    const calls = spent.filter((one) => one.model === model);
    const { costUsd, ...numbers } = total(calls);
    return { model, ...numbers, ...(costUsd === undefined ? {} : { costUsd }) };
  });
}

function total(spent: readonly Totals[]): Totals {
  return spent.reduce(plus, { calls: 0, ...NO_TOKENS, costUsd: undefined });
}

function plus(a: Totals, b: Totals): Totals {
  return {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheCreationInputTokens: a.cacheCreationInputTokens + b.cacheCreationInputTokens,
    cacheReadInputTokens: a.cacheReadInputTokens + b.cacheReadInputTokens,
    costUsd: a.costUsd === undefined ? b.costUsd : cost(a.costUsd + (b.costUsd ?? 0)),
  };
}

/** Rounds off floating-point errors in sums. */
function cost(sum: number): number {
  return Number(sum.toFixed(12));
}

function values(state: ContextState, counts: (seq: number) => boolean): JsonObject {
  const now = new Map<string, JsonObject[string]>();
  for (const { seq, key, value } of state.changes) {
    // These keys are shared with other contexts and are not rewound.
    if (counts(seq) || key.startsWith("app:") || key.startsWith("user:")) {
      now.set(key, value);
    }
  }
  const kept = [...now].filter(([, value]) => value !== null).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(kept);
}

/** Each inactive message or task is in the branch of the last rewind that removed it. */
function branches(state: ContextState, counts: (seq: number) => boolean): Branch[] {
  const steps = state.rewinds.map((one) => ({
    one,
    before: activeAt(state.rewinds, one.seq - 1),
    after: activeAt(state.rewinds, one.seq),
  }));
  const leaving = (seq: number): number | undefined =>
    counts(seq)
      ? undefined
      : steps.filter((step) => step.before(seq) && !step.after(seq)).at(-1)?.one.seq;
  const messages = grouped(asRead(state), leaving);
  const tasks = grouped(Object.values(state.tasks), leaving);
  return state.rewinds.map((one) => ({
    rewoundAt: one.seq,
    range: { first: one.toSeq + 1, last: one.seq - 1 },
    messages: messages.get(one.seq) ?? [],
    taskIds: (tasks.get(one.seq) ?? []).map((task) => task.taskId),
  }));
}

function grouped<T extends { readonly seq: number }>(
  all: readonly T[],
  keyOf: (seq: number) => number | undefined,
): ReadonlyMap<number, readonly T[]> {
  const groups = new Map<number, T[]>();
  for (const one of all) {
    const key = keyOf(one.seq);
    if (key !== undefined) {
      add(groups, key, one);
    }
  }
  return groups;
}
