import type { AuthRequired, InputRequired, JsonObject } from "./events.js";
import { type Position, formatPosition } from "./position.js";
import { asRead, readable } from "./reduce.js";
import { counter, type Stretch } from "./rewind.js";
import type { ArtifactVersion, Block, ContextState, Failure, Task } from "./state.js";
import { hasEnded } from "./task-events.js";
import { titleOf } from "./title.js";
import { NO_TOKENS, type Tokens } from "./tokens.js";
import type { MessageInfo, UsageInfo } from "./types.js";

/** What there is to show of a context: all that counts, and apart from it what a rewind left. */
export interface ContextView {
  readonly contextId: string;
  readonly position: Position;
  /** True if what is shown may be wrong until a new snapshot is loaded. */
  readonly stale: boolean;
  readonly title: string | undefined;
  readonly owner: string;
  readonly metadata: JsonObject | undefined;
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
  readonly forkedFrom: ContextState["forkedFrom"];
  readonly hasEarlierMessages: boolean;
  /** What was said, and what root tasks are saying just now, in the order in which it stands. */
  readonly conversation: readonly (Said | Draft)[];
  /** Root tasks, oldest first, each with those below it. */
  readonly tasks: readonly TaskNode[];
  /** Root tasks that have not begun, oldest first. */
  readonly queue: readonly TaskNode[];
  /** The root task that is at work or waits for something, if one is. */
  readonly active: TaskNode | undefined;
  readonly pendingInputs: readonly InputRequired[];
  readonly pendingAuths: readonly AuthRequired[];
  readonly artifacts: readonly ArtifactView[];
  readonly usage: readonly UsageInfo[];
  readonly totals: Totals;
  readonly state: JsonObject;
  /** What was left behind by going back, oldest first. */
  readonly branches: readonly Branch[];
  readonly errors: readonly Failure[];
}

export interface Said {
  readonly kind: "message";
  readonly message: MessageInfo;
}

/** What a root task says before it has given its answer. */
export interface Draft {
  readonly kind: "draft";
  readonly taskId: string;
  readonly agentId: string;
  readonly seq: number;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** A task, with all that is known of it, and those that it spawned. */
export interface TaskNode extends Task {
  readonly children: readonly TaskNode[];
  readonly artifacts: readonly string[];
  /** What it wrote, version by version, as far as that is known. */
  readonly versions: readonly ArtifactVersion[];
  /** All that it says or has said, without what was replaced. */
  readonly text: string;
  /** What its own model calls used, and those of everything below. */
  readonly totals: Totals;
}

/** What model calls used. */
export interface Totals extends Tokens {
  readonly calls: number;
  readonly costUsd: number | undefined;
}

/** An artifact in its latest version, and all of its versions that are known and count. */
export interface ArtifactView extends ArtifactVersion {
  readonly latestVersion: number;
  readonly versions: readonly ArtifactVersion[];
}

/** What one rewind left behind. */
export interface Branch {
  readonly rewoundAt: number;
  readonly stretch: Stretch;
  readonly messages: readonly MessageInfo[];
  readonly taskIds: readonly string[];
}

const views = new WeakMap<ContextState, ContextView>();
/** Of tasks that have not changed the very same is shown, so that pages need not draw it again. */
const nodes = new WeakMap<Task, TaskNode>();

/** What there is to show. Pure, and made once for each state. */
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
  const counts = counter(state.rewinds, state.seq);
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
    // Few ask for it, and it is much work where people go back often.
    get branches() {
      return (left ??= branches(state, counts));
    },
    errors: state.errors.filter((one) => counts(one.seq)),
  };
}

function conversation(
  messages: readonly MessageInfo[],
  roots: readonly TaskNode[],
): readonly (Said | Draft)[] {
  const said = messages.map((message): Said => ({ kind: "message", message }));
  const drafts = roots.flatMap((task): Draft[] => {
    const blocks = task.blocks.filter((one) => !one.replaced && one.firstSeq > task.answeredSeq);
    const text = textOf(blocks);
    const { taskId, agentId } = task;
    const seq = blocks[0]?.firstSeq ?? task.seq;
    return text === "" || hasEnded(task.status)
      ? []
      : [{ kind: "draft", taskId, agentId, seq, text, blocks }];
  });
  const place = (one: Said | Draft): number => (one.kind === "message" ? one.message.seq : one.seq);
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
    // One whose parent is not in the snapshot stands by itself.
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

/** Sums of money without the dust of binary fractions. */
function cost(sum: number): number {
  return Number(sum.toFixed(12));
}

function values(state: ContextState, counts: (seq: number) => boolean): JsonObject {
  const now = new Map<string, JsonObject[string]>();
  for (const { seq, key, value } of state.changes) {
    // These are not the context's alone, and do not go back with it.
    if (counts(seq) || key.startsWith("app:") || key.startsWith("user:")) {
      now.set(key, value);
    }
  }
  const kept = [...now].filter(([, value]) => value !== null).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(kept);
}

/** Each message and task that does not count is in the branch of the rewind that left it last. */
function branches(state: ContextState, counts: (seq: number) => boolean): Branch[] {
  const steps = state.rewinds.map((one) => ({
    one,
    before: counter(state.rewinds, one.seq - 1),
    after: counter(state.rewinds, one.seq),
  }));
  const leaving = (seq: number): number | undefined =>
    counts(seq)
      ? undefined
      : steps.filter((step) => step.before(seq) && !step.after(seq)).at(-1)?.one.seq;
  const messages = grouped(asRead(state), leaving);
  const tasks = grouped(Object.values(state.tasks), leaving);
  return state.rewinds.map((one) => ({
    rewoundAt: one.seq,
    stretch: { first: one.toSeq + 1, last: one.seq - 1 },
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
