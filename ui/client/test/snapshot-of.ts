import type { ContextState, ContextView, Snapshot, TaskInfo, TaskNode } from "../src/index.js";
import { view } from "../src/index.js";

/** The snapshot that a server would return for this context. */
export function snapshotOf(state: ContextState): Snapshot {
  const shown = view(state);
  const tasks = flat(shown.tasks);
  return wire({
    position: shown.position,
    context: {
      contextId: shown.contextId,
      title: shown.title,
      owner: shown.owner,
      createdAt: shown.createdAt,
      updatedAt: shown.updatedAt,
      position: shown.position,
      messageCount: 0,
      openTasks: 0,
      metadata: shown.metadata,
      forkedFrom: shown.forkedFrom,
    },
    messages: shown.conversation.flatMap((one) => (one.kind === "message" ? [one.message] : [])),
    hasEarlierMessages: shown.hasEarlierMessages,
    tasks: tasks.map(taskInfo),
    pendingInputs: shown.pendingInputs,
    pendingAuths: shown.pendingAuths,
    artifacts: shown.artifacts.map(
      ({ begin: _, nextIndex: _1, carry: _2, content: _3, versions: _4, ...info }) => info,
    ),
    partialTexts: tasks.flatMap((task) =>
      task.blocks
        .filter((block) => !block.done)
        .map(({ blockId, firstSeq, text }) => ({ taskId: task.taskId, blockId, firstSeq, text })),
    ),
    usage: shown.usage,
    state: shown.state,
  }) as Snapshot;
}

/** The part of a view that a snapshot knows: everything except earlier work. */
export function shownOf(shown: ContextView): unknown {
  const tasks = flat(shown.tasks);
  return wire({
    ...shown,
    branches: [],
    errors: [],
    conversation: shown.conversation.flatMap((one) =>
      one.kind === "message" ? [one.message] : [],
    ),
    tasks: tasks.map((task) => ({
      ...taskInfo(task),
      blockedBy: task.blockedBy,
      open: task.blocks.filter((block) => !block.done),
    })),
    queue: shown.queue.map((task) => task.taskId),
    active: shown.active?.taskId,
    artifacts: shown.artifacts.map(
      ({ begin: _, nextIndex: _1, carry: _2, content: _3, versions: _4, ...info }) => info,
    ),
  });
}

function taskInfo(task: TaskNode): TaskInfo {
  const {
    children: _,
    text: _1,
    totals: _2,
    named: _3,
    written: _4,
    blockedBy: _5,
    iteration: _6,
    ...rest
  } = task;
  const {
    answeredSeq: _7,
    blocks: _8,
    calls: _9,
    thoughts: _10,
    questions: _11,
    modelCalls: _12,
    versions: _13,
    endedSeq: _14,
    artifacts,
    ...info
  } = rest;
  return { ...info, ...(artifacts.length === 0 ? {} : { artifacts: [...artifacts] }) };
}

export function flat(tasks: readonly TaskNode[]): TaskNode[] {
  return tasks.flatMap((task) => [task, ...flat(task.children)]).sort((a, b) => a.seq - b.seq);
}

/** The value after a round trip through JSON. */
export function wire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
