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
 * All that is known of one context: facts, each with the `seq` where it stands, also those that a
 * rewind has left behind. `view` makes of it what is to be shown.
 *
 * Plain data, never changed in place.
 */
export interface ContextState {
  readonly contextId: string;
  /** Everything up to here is taken in. */
  readonly seq: number;
  readonly k: number;
  /** What happened up to here is known from a snapshot only; 0 if everything is known. */
  readonly base: number;
  /** True if the context went back to before `base`: only a new snapshot can tell what is there. */
  readonly stale: boolean;
  readonly owner: string;
  /** The title, if somebody gave it one. */
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

/** A message reads otherwise, whatever is rewound; without `content`, it is hidden. */
export interface Edit {
  readonly seq: number;
  readonly messageSeq: number;
  readonly content?: string;
  readonly metadata?: JsonObject;
  readonly editedAt: string;
}

/** A task, and what it did as far as that is known. */
export interface Task extends Omit<TaskInfo, "artifacts"> {
  /** What it says it wrote. */
  readonly named: readonly string[] | undefined;
  /** What it was seen to write. */
  readonly written: readonly string[];
  /** The task that it waits for, if it does. */
  readonly blockedBy: string | undefined;
  /** The turn it is in, if internal events are read. */
  readonly iteration: number | undefined;
  /** Where it ended; undefined if it has not, or did so before what is known event by event. */
  readonly endedSeq: number | undefined;
  /** Where it gave its answer as a message; what it said until then is in there. */
  readonly answeredSeq: number;
  readonly blocks: readonly Block[];
  readonly calls: readonly ToolCall[];
  readonly thoughts: readonly Thought[];
  readonly questions: readonly Question[];
  /** What it asked of models, as far as internal events are read or usage is told. */
  readonly modelCalls: readonly ModelCall[];
}

/** One question to a model. Of one that only its usage tells of, the beginning is not known. */
export interface ModelCall extends Tokens {
  readonly seq: number;
  readonly k: number;
  readonly model: string;
  readonly iteration: number | undefined;
  readonly startedAt: string | undefined;
  readonly endedAt: string | undefined;
  /** True if its usage is told. */
  readonly counted: boolean;
  readonly costUsd: number | undefined;
}

/** Text that a task says in one go. */
export interface Block {
  readonly blockId: string | undefined;
  readonly firstSeq: number;
  readonly text: string;
  readonly done: boolean;
  /** True if it was cut off. */
  readonly partial: boolean;
  readonly finishReason: string | undefined;
  /** True if a later block stands in for this one. */
  readonly replaced: boolean;
}

/** One call of a tool. Of a call that began before the snapshot, `arguments` are not known. */
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

/** A piece of reasoning, joined. */
export interface Thought {
  readonly thoughtId: string;
  readonly thoughtType: ThoughtStream["thoughtType"];
  readonly verbosity: ThoughtStream["verbosity"];
  readonly seq: number;
  readonly text: string;
  readonly metadata: JsonObject | undefined;
}

/** What a task asked of people, and what became of it. */
export interface Question {
  readonly id: string;
  readonly kind: "input" | "auth";
  readonly prompt: string;
  readonly seq: number;
  readonly status: "open" | "answered" | "lapsed";
  readonly value: Json | undefined;
  readonly providedBy: InputReceived["providedBy"] | undefined;
}

/** One version of an artifact, with its content as far as that is known. */
export interface ArtifactVersion extends Omit<ArtifactInfo, "latestVersion" | "rewound"> {
  /** Where the artifact stands in lists. */
  readonly begin: number;
  /** The chunk that comes next; undefined if earlier ones are not known. */
  readonly nextIndex: number | undefined;
  /** Base64 that makes no whole byte yet. */
  readonly carry: string;
  /** A file's text (or base64), a record, or the rows; undefined if not all of it is known. */
  readonly content: string | JsonObject | readonly JsonObject[] | undefined;
}

/** What a model call cost, or all calls of a model up to a snapshot. */
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

/** What follows `toSeq` up to here no longer counts. */
export interface Rewind {
  readonly seq: number;
  readonly toSeq: number;
}

/** Something failed. */
export interface Failure {
  readonly seq: number;
  readonly taskId: string | undefined;
  readonly code: string;
  readonly message: string;
  readonly scope: string;
  readonly retryable: boolean;
}

/** A context of which nothing is known yet. */
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
