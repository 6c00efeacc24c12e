import type {
  InputRequired,
  AuthRequired,
  Json,
  JsonObject,
  MessageFact,
  TaskCreated,
  TaskStatus,
} from "./events.js";
import type { Position } from "./position.js";
import type { Tokens } from "./tokens.js";

/** Where a task stands; the last three are for ever. */
export type TaskState = TaskStatus["status"];

/** A context as lists show it. */
export interface ContextInfo {
  readonly contextId: string;
  readonly title?: string;
  readonly owner: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly position: Position;
  readonly messageCount: number;
  readonly openTasks: number;
  /** How the last root task stands, if there is one. */
  readonly lastStatus?: TaskState;
  readonly metadata?: JsonObject;
  readonly forkedFrom?: { readonly contextId: string; readonly atSeq: number };
}

/** A message as it now reads. */
export interface MessageInfo {
  readonly messageId: string;
  readonly seq: number;
  readonly role: MessageFact["role"];
  readonly content: string;
  readonly parts?: Json[];
  readonly taskId?: string;
  readonly agentId?: string;
  readonly createdAt: string;
  readonly editedAt?: string;
  readonly metadata?: JsonObject;
}

/** Why a task failed. */
export interface TaskError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** A task as it now stands. `seq` is where it began. */
export interface TaskInfo {
  readonly taskId: string;
  readonly contextId: string;
  readonly parentTaskId?: string;
  readonly rootTaskId: string;
  readonly agentId: string;
  readonly agentLevel: "core" | "subagent";
  readonly invocationId?: string;
  readonly spawnedByCallId?: string;
  readonly seq: number;
  readonly status: TaskState;
  readonly message?: string;
  readonly initiator: TaskCreated["initiator"];
  readonly messageId?: string;
  readonly prompt?: string;
  readonly taskType?: string;
  readonly priority?: NonNullable<TaskCreated["priority"]>;
  readonly timeoutMs?: number;
  readonly workingDirectory?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly endedAt?: string;
  readonly cancelRequested?: boolean;
  readonly content?: string;
  readonly artifacts?: string[];
  readonly error?: TaskError;
  readonly metadata?: JsonObject;
}

/** One version of an artifact, without its content. */
export interface ArtifactInfo {
  readonly artifactId: string;
  readonly type: "file" | "data" | "dataset";
  readonly version: number;
  readonly latestVersion: number;
  readonly status: "building" | "complete" | "failed";
  readonly name?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly encoding?: "utf-8" | "base64";
  readonly schema?: Json;
  readonly size: number;
  readonly taskId?: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly rewound?: boolean;
}

/** What one model cost: sums over its calls. */
export interface UsageInfo extends Tokens {
  readonly model: string;
  readonly calls: number;
  readonly costUsd?: number;
}

/** Text of a block that is still being said. */
export interface PartialText {
  readonly taskId: string;
  readonly blockId?: string;
  readonly firstSeq: number;
  readonly text: string;
}

/** A context at a position: show this, stream on from `position`, and nothing is missed. */
export interface Snapshot {
  readonly position: Position;
  readonly context: ContextInfo;
  readonly messages: MessageInfo[];
  readonly hasEarlierMessages: boolean;
  readonly tasks: TaskInfo[];
  readonly pendingInputs: InputRequired[];
  readonly pendingAuths: AuthRequired[];
  readonly artifacts: ArtifactInfo[];
  readonly partialTexts: PartialText[];
  readonly usage: UsageInfo[];
  readonly state: JsonObject;
}

/** A page of a list; ask again with `nextCursor` while there is one. */
export interface Page<T> {
  readonly items: T[];
  readonly nextCursor?: string;
}

/** An agent that the server offers. */
export interface AgentTypeInfo {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly type: string;
  readonly model?: string;
  readonly tools: string[];
  readonly taskTypes: string[];
}

/** Something that waits for a person, in any context. */
export interface InboxItem {
  readonly contextId: string;
  readonly title?: string;
  readonly taskId?: string;
  readonly rootTaskId?: string;
  readonly agentId?: string;
  readonly kind: "input" | "auth";
  readonly seq: number;
  readonly timestamp: string;
  readonly prompt: string;
  readonly inputId?: string;
  readonly inputType?: InputRequired["inputType"];
  readonly requireUser?: boolean;
  readonly schema?: Json;
  readonly options?: Json[];
  readonly authId?: string;
  readonly authType?: AuthRequired["authType"];
  readonly provider?: string;
  readonly scopes?: string[];
  readonly authUrl?: string;
  readonly metadata?: JsonObject;
  readonly expiresAt?: string;
}

/** Something to say, and how it is to be taken up; what is missing has a default. */
export interface NewMessage {
  readonly content?: string;
  readonly parts?: Json[];
  readonly agentId?: string;
  readonly whenBusy?: "enqueue" | "reject" | "interrupt" | "rollback" | "steer";
  readonly timeoutMs?: number;
  readonly priority?: "low" | "normal" | "high" | "critical";
  readonly workingDirectory?: string;
  readonly taskType?: string;
  readonly strategy?: "single" | "parallel" | "sequential" | "delegate";
  readonly clientTools?: { name: string; description?: string; schema: JsonObject }[];
}

/** A message is in the log, at `seq`, and has a task. */
export interface Accepted {
  readonly contextId: string;
  readonly messageId: string;
  readonly taskId: string;
  readonly seq: number;
}

/** Where to go back to, by one of three names. */
export type RewindTarget =
  | { readonly beforeTaskId: string }
  | { readonly beforeMessageId: string }
  | { readonly toSeq: number };

/** A rewind is in the log, at `seq`: what follows `toSeq` up to there no longer counts. */
export interface Rewound {
  readonly contextId: string;
  readonly seq: number;
  readonly toSeq: number;
}

/** What several answers came to, each by itself. */
export interface Resumed {
  readonly contextId: string;
  readonly accepted: { inputId?: string; authId?: string; seq: number }[];
  readonly refused: { inputId?: string; authId?: string; code: string; detail: string }[];
}
