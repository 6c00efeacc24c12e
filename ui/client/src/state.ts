import type {
  AuthRequired,
  InputReceived,
  InputRequired,
  Json,
  JsonObject,
  ToolComplete,
  ToolStart,
  ThoughtStream,
} from "./events.js";
import type { Tokens } from "./tokens.js";
import type { ArtifactInfo, MessageInfo, TaskInfo } from "./types.js";

/**
 * All facts of one context, each with its `seq`, including those that a rewind removed. `view`
 * derives the state to show.
 *
 * Plain, immutable data.
 */
export interface ContextState {
  readonly contextId: string;
  /** The last applied event. */
  readonly seq: number;
  readonly k: number;
  /** Events up to here are known only from a snapshot; 0 if all events are known. */
  readonly base: number;
  /** True if a rewind went back to before `base`: a new snapshot is needed. */
  readonly stale: boolean;
  readonly owner: string;
  /** The title, if one was set. */
  readonly title: string | undefined;
  readonly metadata: JsonObject | undefined;
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
  readonly forkedFrom: { readonly contextId: string; readonly atSeq: number } | undefined;
  readonly hasEarlierMessages: boolean;
  readonly messages: readonly MessageInfo[];
  readonly edits: readonly Edit[];
  readonly tasks: Readonly<Record<string, Task>>;
  readonly pendingInputs: readonly InputRequired[];
  readonly pendingAuths: readonly AuthRequired[];
  readonly versions: readonly ArtifactVersion[];
  readonly usage: readonly UsageEntry[];
  readonly changes: readonly Change[];
  readonly rewinds: readonly Rewind[];
  readonly errors: readonly Failure[];
}

/** A correction of a message, independent of rewinds; without `content`, the message is hidden. */
export interface Edit {
  readonly seq: number;
  readonly messageSeq: number;
  readonly content?: string;
  readonly metadata?: JsonObject;
  readonly editedAt: string;
}

/** A task and its known work. */
export interface Task extends Omit<TaskInfo, "artifacts"> {
  /** The artifacts that it reports. */
  readonly named: readonly string[] | undefined;
  /** The artifacts that its events wrote. */
  readonly written: readonly string[];
  /** The task that it waits for, if any. */
  readonly blockedBy: string | undefined;
  /** The next attempt of a failed model request, until the task's next event. */
  readonly retry: Retry | undefined;
  /** The current turn, if internal events are read. */
  readonly iteration: number | undefined;
  /** The position where it ended; undefined if it has not, or if that event is not loaded. */
  readonly endedSeq: number | undefined;
  /** The position of its answer message, which contains all text until then. */
  readonly answeredSeq: number;
  readonly blocks: readonly Block[];
  readonly calls: readonly ToolCall[];
  readonly thoughts: readonly Thought[];
  readonly questions: readonly Question[];
  /** Its model calls, from internal events or usage. */
  readonly modelCalls: readonly ModelCall[];
}

/** A further attempt of a failed model request. */
export interface Retry {
  /** The number of the next attempt; the first is 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly delayMs: number;
  readonly reason: string;
}

/** A model call. Without internal events, its start is unknown. */
export interface ModelCall extends Tokens {
  readonly seq: number;
  readonly k: number;
  readonly model: string;
  readonly iteration: number | undefined;
  readonly startedAt: string | undefined;
  readonly endedAt: string | undefined;
  /** True if its usage is known. */
  readonly counted: boolean;
  readonly costUsd: number | undefined;
}

/** A block of text. */
export interface Block {
  readonly blockId: string | undefined;
  readonly firstSeq: number;
  readonly text: string;
  readonly done: boolean;
  /** True if it was interrupted. */
  readonly partial: boolean;
  readonly finishReason: string | undefined;
  /** True if a later block replaces this one. */
  readonly replaced: boolean;
}

/** A tool call. If it began before the snapshot, `arguments` are unknown. */
export interface ToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: JsonObject | undefined;
  readonly seq: number;
  readonly attempt: number;
  readonly status: "running" | "succeeded" | "failed" | "abandoned";
  readonly progress: number | undefined;
  readonly progressMessage: string | undefined;
  readonly result: Json | undefined;
  readonly error: string | undefined;
  readonly outcome: ToolComplete["outcome"] | undefined;
  readonly subagents: ToolStart["subagentMetadata"] | undefined;
  readonly startedAt: string | undefined;
  readonly endedAt: string | undefined;
}

/** A thought, with its parts joined. */
export interface Thought {
  readonly thoughtId: string;
  readonly thoughtType: ThoughtStream["thoughtType"];
  readonly verbosity: ThoughtStream["verbosity"];
  readonly seq: number;
  readonly text: string;
  readonly metadata: JsonObject | undefined;
}

/** A question of a task, and its answer. */
export interface Question {
  readonly id: string;
  readonly kind: "input" | "auth";
  readonly prompt: string;
  readonly seq: number;
  readonly status: "open" | "answered" | "lapsed";
  readonly value: Json | undefined;
  readonly providedBy: InputReceived["providedBy"] | undefined;
}

/** A version of an artifact, with its content if it is known. */
export interface ArtifactVersion extends Omit<ArtifactInfo, "latestVersion" | "rewound"> {
  /** The position of the artifact in lists. */
  readonly begin: number;
  /** The index of the next chunk; undefined if earlier chunks are unknown. */
  readonly nextIndex: number | undefined;
  /** An incomplete base64 group. */
  readonly carry: string;
  /** A file's text (or base64), a record, or rows; undefined if it is incomplete. */
  readonly content: string | JsonObject | readonly JsonObject[] | undefined;
}

/** The usage of one model call, or of all calls of a model up to a snapshot. */
export interface UsageEntry extends Tokens {
  readonly seq: number;
  readonly taskId: string | undefined;
  readonly model: string;
  readonly calls: number;
  readonly costUsd: number | undefined;
}

/** A key of the context's state was set, or removed if the value is null. */
export interface Change {
  readonly seq: number;
  readonly key: string;
  readonly value: Json;
}

/** Events after `toSeq` up to here are no longer active. */
export interface Rewind {
  readonly seq: number;
  readonly toSeq: number;
}

/** A failure. */
export interface Failure {
  readonly seq: number;
  readonly taskId: string | undefined;
  readonly code: string;
  readonly message: string;
  readonly scope: string;
  readonly retryable: boolean;
}

/** An empty context. */
export function emptyContext(contextId: string): ContextState {
  return {
    contextId,
    seq: 0,
    k: 0,
    base: 0,
    stale: false,
    owner: "",
    title: undefined,
    metadata: undefined,
    createdAt: undefined,
    updatedAt: undefined,
    forkedFrom: undefined,
    hasEarlierMessages: false,
    messages: [],
    edits: [],
    tasks: {},
    pendingInputs: [],
    pendingAuths: [],
    versions: [],
    usage: [],
    changes: [],
    rewinds: [],
    errors: [],
  };
}
