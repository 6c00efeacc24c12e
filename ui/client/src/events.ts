// Written by tools/generate-events.mjs from events.schema.json; a test compares them.

/** Whatever JSON can say. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  [name: string]: Json;
}

/** What every event has, whatever happened. */
export interface Envelope {
  seq: number;
  k?: number;
  eventId: string;
  timestamp: string;
  contextId: string;
  taskId?: string;
  parentTaskId?: string;
  rootTaskId?: string;
  agentId?: string;
  agentLevel?: "core" | "subagent";
  invocationId?: string;
  spawnedByCallId?: string;
  traceId?: string;
}

export interface TaskCreated extends Envelope {
  kind: "task-created";
  initiator: "user" | "agent";
  metadata?: JsonObject;
  messageId?: string;
  prompt?: string;
  taskType?: string;
  priority?: "low" | "normal" | "high" | "critical";
  timeoutMs?: number;
  workingDirectory?: string;
}

export interface TaskStatus extends Envelope {
  kind: "task-status";
  status: "submitted" | "working" | "waiting-input" | "waiting-auth" | "waiting-subtask" | "completed" | "failed" | "canceled";
  message?: string;
  metadata?: JsonObject;
}

export interface TaskComplete extends Envelope {
  kind: "task-complete";
  content?: string;
  artifacts?: string[];
  metadata?: JsonObject;
}

export interface ContentDelta extends Envelope {
  kind: "content-delta";
  delta: string;
  index: number;
  blockId?: string;
}

export interface ContentComplete extends Envelope {
  kind: "content-complete";
  content: string;
  blockId?: string;
  finishReason?: "stop" | "length" | "tool_calls" | "content_filter" | "interrupted" | "canceled" | "refusal";
  partial?: boolean;
  replaces?: string;
  toolCalls?: ({ id: string; name: string; arguments: JsonObject })[];
}

export interface ToolStart extends Envelope {
  kind: "tool-start";
  toolCallId: string;
  toolName: string;
  arguments: JsonObject;
  metadata?: JsonObject;
  attempt?: number;
  key?: string;
  epoch?: number;
  subagentMetadata?: { taskIds: string[]; count: number; mode: "parallel" | "serial" };
}

export interface ToolProgress extends Envelope {
  kind: "tool-progress";
  toolCallId: string;
  progress: number;
  message?: string;
  metadata?: JsonObject;
}

export interface ToolComplete extends Envelope {
  kind: "tool-complete";
  toolCallId: string;
  toolName: string;
  success: boolean;
  result?: Json;
  error?: string;
  metadata?: JsonObject;
  outcome?: "outcome-unknown" | "canceled" | "interrupted";
  subagentMetadata?: { taskIds: string[]; count: number; mode: "parallel" | "serial" };
}

export interface InputRequired extends Envelope {
  kind: "input-required";
  inputId: string;
  requireUser?: boolean;
  inputType: "tool-execution" | "confirmation" | "clarification" | "selection" | "custom" | "data";
  prompt: string;
  schema?: Json;
  options?: Json[];
  metadata?: JsonObject;
  expiresAt?: string;
}

export interface InputReceived extends Envelope {
  kind: "input-received";
  inputId: string;
  providedBy: "user" | "agent";
  userId?: string;
  metadata?: JsonObject;
  value?: Json;
}

export interface InputLapsed extends Envelope {
  kind: "input-lapsed";
  inputId: string;
  reason?: string;
  principal?: string;
}

export interface AuthRequired extends Envelope {
  kind: "auth-required";
  authId: string;
  authType: "oauth2" | "api-key" | "password" | "biometric" | "pat" | "custom";
  provider?: string;
  scopes?: string[];
  prompt: string;
  authUrl?: string;
  metadata?: JsonObject;
  expiresAt?: string;
}

export interface AuthCompleted extends Envelope {
  kind: "auth-completed";
  authId: string;
  userId: string;
  metadata?: JsonObject;
}

export interface AuthLapsed extends Envelope {
  kind: "auth-lapsed";
  authId: string;
  reason?: string;
  principal?: string;
}

export interface FileWrite extends Envelope {
  kind: "file-write";
  artifactId: string;
  data: string;
  index: number;
  complete: boolean;
  name?: string;
  description?: string;
  mimeType?: string;
  encoding?: "utf-8" | "base64";
  metadata?: JsonObject;
  version?: number;
  principal?: string;
}

export interface DataWrite extends Envelope {
  kind: "data-write";
  artifactId: string;
  name?: string;
  description?: string;
  data: JsonObject;
  metadata?: JsonObject;
  version?: number;
  principal?: string;
}

export interface DatasetWrite extends Envelope {
  kind: "dataset-write";
  artifactId: string;
  rows: JsonObject[];
  index: number;
  complete: boolean;
  name?: string;
  description?: string;
  schema?: Json;
  metadata?: JsonObject;
  version?: number;
}

export interface SubtaskCreated extends Envelope {
  kind: "subtask-created";
  subtaskId: string;
  prompt: string;
}

export interface SubtaskComplete extends Envelope {
  kind: "subtask-complete";
  subtaskId: string;
  status: "submitted" | "working" | "waiting-input" | "waiting-auth" | "waiting-subtask" | "completed" | "failed" | "canceled";
  result?: string;
  error?: string;
}

export interface ThoughtStream extends Envelope {
  kind: "thought-stream";
  thoughtId: string;
  thoughtType: "planning" | "reasoning" | "reflection" | "decision" | "observation" | "strategy" | "analysis" | "thinking";
  verbosity: "brief" | "normal" | "detailed";
  content: string;
  index: number;
  metadata?: JsonObject;
  visibility?: "internal" | "user";
}

export interface InternalThoughtProcess extends Envelope {
  kind: "internal:thought-process";
  iteration: number;
  stage: "pre-llm" | "post-llm" | "pre-tool" | "post-tool";
  reasoning: string;
  state: JsonObject;
}

export interface InternalLlmCall extends Envelope {
  kind: "internal:llm-call";
  iteration: number;
  model: string;
  messageCount: number;
  toolCount: number;
}

export interface InternalCheckpoint extends Envelope {
  kind: "internal:checkpoint";
  iteration: number;
  state?: JsonObject;
}

export interface ContextCreated extends Envelope {
  kind: "context-created";
  owner: string;
  title?: string;
  metadata?: JsonObject;
}

export interface ContextUpdated extends Envelope {
  kind: "context-updated";
  title?: string;
  metadata?: JsonObject;
  principal?: string;
}

export interface ContextRewound extends Envelope {
  kind: "context-rewound";
  toSeq: number;
  beforeTaskId?: string;
  beforeMessageId?: string;
  stateDelta?: JsonObject;
  artifactDelta?: JsonObject;
  principal?: string;
}

export interface ContextForked extends Envelope {
  kind: "context-forked";
  sourceContextId: string;
  atSeq: number;
  owner?: string;
  title?: string;
  principal?: string;
}

export interface StateUpdated extends Envelope {
  kind: "state-updated";
  delta: JsonObject;
  principal?: string;
}

export interface MessageFact extends Envelope {
  kind: "message";
  messageId: string;
  role: "user" | "assistant" | "system";
  content: string;
  parts?: Json[];
  metadata?: JsonObject;
  principal?: string;
}

export interface MessageUpdated extends Envelope {
  kind: "message-updated";
  messageId: string;
  content: string;
  metadata?: JsonObject;
  principal?: string;
}

export interface MessageDeleted extends Envelope {
  kind: "message-deleted";
  messageId: string;
  principal?: string;
}

export interface TaskStored extends Envelope {
  kind: "task-stored";
  task: JsonObject;
  principal?: string;
}

export interface TaskDeleted extends Envelope {
  kind: "task-deleted";
  reason?: string;
  principal?: string;
}

export interface CancelRequested extends Envelope {
  kind: "cancel-requested";
  requestedBy?: string;
  reason?: string;
}

export interface UsageFact extends Envelope {
  kind: "usage";
  model: string;
  inputTokens: number;
  outputTokens: number;
  cacheCreationInputTokens?: number;
  cacheReadInputTokens?: number;
  costUsd?: number;
}

export interface ErrorFact extends Envelope {
  kind: "error";
  code: "timeout" | "rate_limited" | "auth" | "invalid_input" | "tool_failed" | "model_error" | "interrupted" | "limit" | "rejected" | "internal" | "crashed";
  message: string;
  retryable: boolean;
  scope: "task" | "tool" | "stream";
  toolCallId?: string;
}

export interface InternalRaw extends Envelope {
  kind: "internal:raw";
  source: string;
  line: string;
  cut?: number;
}

/** A fact about a context. */
export type ParleyEvent =
  | TaskCreated
  | TaskStatus
  | TaskComplete
  | ContentDelta
  | ContentComplete
  | ToolStart
  | ToolProgress
  | ToolComplete
  | InputRequired
  | InputReceived
  | InputLapsed
  | AuthRequired
  | AuthCompleted
  | AuthLapsed
  | FileWrite
  | DataWrite
  | DatasetWrite
  | SubtaskCreated
  | SubtaskComplete
  | ThoughtStream
  | InternalThoughtProcess
  | InternalLlmCall
  | InternalCheckpoint
  | ContextCreated
  | ContextUpdated
  | ContextRewound
  | ContextForked
  | StateUpdated
  | MessageFact
  | MessageUpdated
  | MessageDeleted
  | TaskStored
  | TaskDeleted
  | CancelRequested
  | UsageFact
  | ErrorFact
  | InternalRaw;

/** The kinds of events that this version knows. */
export const KINDS = [
  "task-created", "task-status", "task-complete", "content-delta",
  "content-complete", "tool-start", "tool-progress", "tool-complete",
  "input-required", "input-received", "input-lapsed", "auth-required",
  "auth-completed", "auth-lapsed", "file-write", "data-write",
  "dataset-write", "subtask-created", "subtask-complete", "thought-stream",
  "internal:thought-process", "internal:llm-call", "internal:checkpoint", "context-created",
  "context-updated", "context-rewound", "context-forked", "state-updated",
  "message", "message-updated", "message-deleted", "task-stored",
  "task-deleted", "cancel-requested", "usage", "error",
  "internal:raw",
] as const;

export type Kind = (typeof KINDS)[number];
