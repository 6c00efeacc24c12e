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

/** The state of a task; the last three are final. */
export type TaskState = TaskStatus["status"];

/** A context in a list. */
export interface ContextInfo {
  readonly contextId: string;
  readonly title?: string;
  readonly owner: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly position: Position;
  readonly messageCount: number;
  readonly openTasks: number;
  /** The state of the last root task, if there is one. */
  readonly lastStatus?: TaskState;
  readonly metadata?: JsonObject;
  readonly forkedFrom?: { readonly contextId: string; readonly atSeq: number };
}

/** A message with all corrections. */
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

/** The current state of a task. `seq` is its first event. */
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

/** The usage of one model, summed over its calls. */
export interface UsageInfo extends Tokens {
  readonly model: string;
  readonly calls: number;
  readonly costUsd?: number;
}

/** The text of a block that is still streaming. */
export interface PartialText {
  readonly taskId: string;
  readonly blockId?: string;
  readonly firstSeq: number;
  readonly text: string;
}

/** A context at a position. Stream from `position` to continue without gaps. */
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

/** A page of a list; request the next one with `nextCursor`, if present. */
export interface Page<T> {
  readonly items: T[];
  readonly nextCursor?: string;
}

/** An agent type of the server. */
export interface AgentTypeInfo {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly type: string;
  readonly model?: string;
  readonly tools: string[];
  readonly taskTypes: string[];
}

/** All agent types of a server. */
export interface AgentTypeList extends Page<AgentTypeInfo> {
  /** The default folder of a new context. */
  readonly workingDirectory?: string;
}

/** A question that waits for a person, in any context. */
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

/** A message to send, with its options; all have defaults. */
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

/** The message is in the log at `seq` and has a task. */
export interface Accepted {
  readonly contextId: string;
  readonly messageId: string;
  readonly taskId: string;
  readonly seq: number;
}

/** The target of a rewind. */
export type RewindTarget =
  | { readonly beforeTaskId: string }
  | { readonly beforeMessageId: string }
  | { readonly toSeq: number };

/** The rewind is in the log at `seq`: events after `toSeq` are no longer active. */
export interface Rewound {
  readonly contextId: string;
  readonly seq: number;
  readonly toSeq: number;
}

/** The result of each of several answers. */
export interface Resumed {
  readonly contextId: string;
  readonly accepted: { inputId?: string; authId?: string; seq: number }[];
  readonly refused: { inputId?: string; authId?: string; code: string; detail: string }[];
}
