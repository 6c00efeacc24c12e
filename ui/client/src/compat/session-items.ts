import type { Json, JsonObject } from "../events.js";

/** A part of an A2A message or artifact, in the form of version 0.3. */
export type A2APart =
  | { readonly kind: "text"; readonly text: string; readonly metadata?: JsonObject }
  | { readonly kind: "data"; readonly data: JsonObject; readonly metadata?: JsonObject }
  | { readonly kind: "file"; readonly file: JsonObject; readonly metadata?: JsonObject };

/** A message of the user or the agent. */
export interface A2AMessage {
  readonly kind: "message";
  readonly messageId: string;
  readonly role: "user" | "agent";
  readonly parts: readonly A2APart[];
  readonly contextId?: string;
  readonly taskId?: string;
  readonly metadata?: JsonObject;
}

export interface A2AStatus {
  /** In the form of version 0.3: `input-required`, not `TASK_STATE_INPUT_REQUIRED`. */
  readonly state: string;
  readonly message?: A2AMessage;
  readonly timestamp?: string;
}

export interface A2ATask {
  readonly kind: "task";
  readonly id: string;
  readonly contextId: string;
  readonly status: A2AStatus;
  readonly history: readonly A2AMessage[];
  readonly metadata?: JsonObject;
}

export interface A2AStatusUpdate {
  readonly kind: "status-update";
  readonly taskId: string;
  readonly contextId: string;
  readonly status: A2AStatus;
  /** True if this update ends the stream. */
  readonly final: boolean;
  readonly metadata?: JsonObject;
}

export interface A2AArtifactUpdate {
  readonly kind: "artifact-update";
  readonly taskId: string;
  readonly contextId: string;
  readonly artifact: {
    readonly artifactId: string;
    readonly name?: string;
    readonly parts: readonly A2APart[];
    readonly metadata?: JsonObject;
  };
  readonly append: boolean;
  readonly lastChunk: boolean;
  readonly metadata?: JsonObject;
}

/** An unknown payload. */
export interface A2AOther {
  readonly kind: "other";
  readonly payload: unknown;
}

/** The content of a stream frame. `wrapped` is true if it has the form of version 1.0. */
export type A2AItem =
  | (A2ATask & { readonly wrapped: boolean })
  | A2AStatusUpdate
  | A2AArtifactUpdate
  | A2AMessage
  | A2AOther
  | { readonly kind: "error"; readonly message: string };

const ENDED = ["completed", "failed", "canceled", "rejected"];
const WAITING = ["input-required", "auth-required"];

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function object(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

/** True for a task in the form of version 0.3. */
export function isA2ATask(payload: unknown): boolean {
  return fields(payload)["kind"] === "task";
}

/** A task without `kind`: it has a history and an id. */
export function isTaskLike(payload: unknown): boolean {
  const { history, id, contextId } = fields(payload);
  const named = typeof id === "string" || typeof contextId === "string";
  return Array.isArray(history) && history.length > 0 && named;
}

export function isA2ATaskStatusUpdate(payload: unknown): boolean {
  return fields(payload)["kind"] === "status-update";
}

export function isA2ATaskArtifactUpdate(payload: unknown): boolean {
  return fields(payload)["kind"] === "artifact-update";
}

export function isA2AMessage(payload: unknown): boolean {
  return fields(payload)["kind"] === "message";
}

/** True if a task in this state has ended or waits for a person. */
export function isSettled(state: string): boolean {
  return ENDED.includes(state) || WAITING.includes(state);
}

/** True if a task in this state waits for a person. */
export function isWaiting(state: string): boolean {
  return WAITING.includes(state);
}

/**
 * Parses a frame of either version, with or without a JSON-RPC envelope. Accepts any value; unknown
 * payloads become `other`.
 */
export function itemOf(frame: unknown): A2AItem {
  const error = fields(fields(frame)["error"]);
  if (text(error["message"]) !== undefined) {
    return { kind: "error", message: text(error["message"]) ?? "" };
  }
  const payload = fields(frame)["result"] || frame;
  const { task, statusUpdate, artifactUpdate, message } = fields(payload);
  if (isA2ATask(payload) || isTaskLike(payload)) {
    return { ...taskOf(payload), wrapped: false };
  }
  if (isA2ATaskStatusUpdate(payload)) {
    return statusUpdateOf(payload);
  }
  if (isA2ATaskArtifactUpdate(payload)) {
    return artifactUpdateOf(payload);
  }
  if (isA2AMessage(payload)) {
    return messageOf(payload) ?? { kind: "other", payload };
  }
  if (object(task) !== undefined) {
    return { ...taskOf(task), wrapped: true };
  }
  if (object(statusUpdate) !== undefined) {
    return statusUpdateOf(statusUpdate);
  }
  if (object(artifactUpdate) !== undefined) {
    return artifactUpdateOf(artifactUpdate);
  }
  return messageOf(message) ?? { kind: "other", payload };
}

/** Converts a task of either version to the form of 0.3. */
export function taskOf(payload: unknown): A2ATask {
  const { id, contextId, history, status, metadata } = fields(payload);
  const task = text(id) ?? text(contextId) ?? "";
  return {
    kind: "task",
    id: task,
    contextId: text(contextId) ?? task,
    status: statusOf(status),
    history: list(history).flatMap((item) => messageOf(item) ?? []),
    ...withMetadata(metadata),
  };
}

/** Converts a message of either version to the form of 0.3; undefined if it is not a message. */
export function messageOf(payload: unknown): A2AMessage | undefined {
  const { kind, messageId, role, parts, contextId, taskId, metadata } = fields(payload);
  const id = text(messageId);
  if ((kind !== undefined && kind !== "message") || id === undefined || !Array.isArray(parts)) {
    return undefined;
  }
  return {
    kind: "message",
    messageId: id,
    role: (text(role) ?? "").toLowerCase().endsWith("user") ? "user" : "agent",
    parts: parts.map(partOf),
    ...(typeof contextId === "string" ? { contextId } : {}),
    ...(typeof taskId === "string" ? { taskId } : {}),
    ...withMetadata(metadata),
  };
}

/** Joins the histories of a session's tasks into one conversation, without duplicates. */
export function extractMessagesFromTasks(tasks: readonly unknown[]): A2AMessage[] {
  const known = new Set<string>();
  return tasks
    .flatMap((task) => list(fields(task)["history"]))
    .flatMap((item) => messageOf(item) ?? [])
    .filter((message) => !known.has(message.messageId) && known.add(message.messageId));
}

/** A metadata value, with either of the two prefixes. */
export function metadataOf(metadata: JsonObject | undefined, name: string): Json | undefined {
  return metadata?.[`adk_${name}`] ?? metadata?.[`kagent_${name}`];
}

/** The turn of a message. */
export function invocationOf(message: A2AMessage): string | undefined {
  return text(metadataOf(message.metadata, "invocation_id"));
}

/** The text of the parts. */
export function textOf(parts: readonly A2APart[]): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

function statusUpdateOf(payload: unknown): A2AStatusUpdate {
  const { taskId, contextId, status, final, metadata } = fields(payload);
  const now = statusOf(status);
  return {
    kind: "status-update",
    taskId: text(taskId) ?? "",
    contextId: text(contextId) ?? "",
    status: now,
    // Version 1.0 has no `final`; the state decides.
    final: typeof final === "boolean" ? final : isSettled(now.state),
    ...withMetadata(metadata),
  };
}

function artifactUpdateOf(payload: unknown): A2AArtifactUpdate {
  const { taskId, contextId, artifact, append, lastChunk, metadata } = fields(payload);
  const { artifactId, name, parts, metadata: about } = fields(artifact);
  return {
    kind: "artifact-update",
    taskId: text(taskId) ?? "",
    contextId: text(contextId) ?? "",
    artifact: {
      artifactId: text(artifactId) ?? "",
      ...(typeof name === "string" ? { name } : {}),
      parts: list(parts).map(partOf),
      ...withMetadata(about),
    },
    append: append === true,
    lastChunk: lastChunk === true,
    ...withMetadata(metadata),
  };
}

function statusOf(payload: unknown): A2AStatus {
  const { state, message, timestamp } = fields(payload);
  const said = messageOf(message);
  return {
    state: (text(state) ?? "unknown")
      .replace(/^TASK_STATE_/, "")
      .toLowerCase()
      .replaceAll("_", "-"),
    ...(said === undefined ? {} : { message: said }),
    ...(typeof timestamp === "string" ? { timestamp } : {}),
  };
}

function partOf(payload: unknown): A2APart {
  const { text: words, data, file, raw, url, filename, mediaType, metadata } = fields(payload);
  const about = withMetadata(metadata);
  if (typeof words === "string") {
    return { kind: "text", text: words, ...about };
  }
  if (object(file) !== undefined) {
    return { kind: "file", file: object(file) ?? {}, ...about };
  }
  if (typeof raw === "string" || typeof url === "string") {
    const held: JsonObject = typeof raw === "string" ? { bytes: raw } : { uri: String(url) };
    const name: JsonObject = typeof filename === "string" ? { name: filename } : {};
    const type: JsonObject = typeof mediaType === "string" ? { mimeType: mediaType } : {};
    return { kind: "file", file: { ...held, ...name, ...type }, ...about };
  }
  return { kind: "data", data: object(data) ?? { value: (data ?? null) as Json }, ...about };
}

function withMetadata(metadata: unknown): { readonly metadata?: JsonObject } {
  const known = object(metadata);
  return known === undefined ? {} : { metadata: known };
}
