import { parsePosition } from "./position.js";
import { type ContextState, emptyContext, type Task } from "./state.js";
import { blocker, NOTHING_DONE } from "./task-events.js";
import type { ArtifactInfo, PartialText, Snapshot, TaskInfo } from "./types.js";

/** Creates a context from a snapshot. Events after its position continue from here. */
export function fromSnapshot(snapshot: Snapshot): ContextState {
  const { seq, k } = parsePosition(snapshot.position);
  const { context } = snapshot;
  const tasks = snapshot.tasks.map((task) => taskOf(task, snapshot.partialTexts));
  return {
    ...emptyContext(context.contextId),
    seq,
    k,
    base: seq,
    owner: context.owner,
    title: context.title,
    metadata: context.metadata,
    createdAt: context.createdAt,
    updatedAt: context.updatedAt,
    forkedFrom: context.forkedFrom,
    hasEarlierMessages: snapshot.hasEarlierMessages,
    messages: snapshot.messages,
    tasks: Object.fromEntries(tasks.map((task) => [task.taskId, task])),
    pendingInputs: snapshot.pendingInputs,
    pendingAuths: snapshot.pendingAuths,
    versions: snapshot.artifacts.map((one, i) => versionOf(one, i - snapshot.artifacts.length)),
    usage: snapshot.usage.map((one) => ({ seq, taskId: undefined, costUsd: undefined, ...one })),
    changes: Object.entries(snapshot.state).map(([key, value]) => ({ seq, key, value })),
  };
}

function taskOf(info: TaskInfo, texts: readonly PartialText[]): Task {
  const { artifacts, ...rest } = info;
  return {
    ...rest,
    ...NOTHING_DONE,
    named: info.status === "completed" ? artifacts : undefined,
    written: artifacts ?? [],
    blockedBy: blocker(info.status, info.metadata),
    blocks: texts
      .filter((text) => text.taskId === info.taskId)
      .map(({ blockId, firstSeq, text }) => ({
        blockId,
        firstSeq,
        text,
        done: false,
        partial: false,
        finishReason: undefined,
        replaced: false,
      })),
  };
}

function versionOf(info: ArtifactInfo, begin: number): ContextState["versions"][number] {
  const { latestVersion: _, rewound: __, ...rest } = info;
  return { ...rest, begin, nextIndex: undefined, carry: "", content: undefined };
}
