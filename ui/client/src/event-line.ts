import type { ParleyEvent } from "./events.js";
import { inputTokensOf } from "./tokens.js";

/** The maximum length of an event's summary. */
const LINE_MAX = 160;

/** A one-line summary of an event. */
export function eventLine(event: ParleyEvent): string {
  const line = words(event).replace(/\s+/g, " ").trim();
  return line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)}…` : line;
}

function words(event: ParleyEvent): string {
  switch (event.kind) {
    case "task-created":
      return event.prompt ?? "";
    case "task-status":
      return [event.status, event.message].filter(Boolean).join(": ");
    case "task-complete":
      return event.content ?? "";
    case "content-delta":
      return event.delta;
    case "content-complete":
      return [event.finishReason, event.content.slice(0, LINE_MAX)].filter(Boolean).join(": ");
    case "tool-start":
      return `${event.toolName} ${short(event.arguments)}`;
    case "tool-progress":
      return `${Math.round(event.progress * 100)} % ${event.message ?? ""}`;
    case "tool-complete":
      return `${event.toolName} ${event.success ? short(event.result) : (event.error ?? "failed")}`;
    case "input-required":
    case "auth-required":
      return event.prompt;
    case "input-received":
      return `${event.providedBy}: ${short(event.value)}`;
    case "auth-completed":
      return event.userId;
    case "input-lapsed":
    case "auth-lapsed":
    case "task-deleted":
    case "cancel-requested":
      return event.reason ?? "";
    case "file-write":
    case "data-write":
    case "dataset-write":
      return `${event.name ?? event.artifactId} ${written(event)}`;
    case "subtask-created":
      return `${event.agentId ?? ""}: ${event.prompt}`;
    case "subtask-complete":
      return `${event.status} ${event.result ?? event.error ?? ""}`;
    case "thought-stream":
      return event.content;
    case "internal:thought-process":
      return `${event.stage}: ${event.reasoning}`;
    case "internal:llm-call":
      return `${event.model}, turn ${event.iteration}, ${event.messageCount} messages`;
    case "internal:checkpoint":
      return `turn ${event.iteration}`;
    case "internal:raw":
      return `${event.source}: ${event.line.slice(0, LINE_MAX)}`;
    case "context-created":
    case "context-updated":
      return event.title ?? "";
    case "context-rewound":
      return `back to ${event.toSeq}`;
    case "context-forked":
      return `from ${event.sourceContextId} at ${event.atSeq}`;
    case "state-updated":
      return short(event.delta);
    case "message":
    case "message-updated":
      return event.content.slice(0, LINE_MAX);
    case "message-deleted":
      return event.messageId;
    case "task-stored":
      return short(event.task);
    case "usage":
      return `${event.model}: ${inputTokensOf(event)} in, ${event.outputTokens} out${money(event.costUsd)}`;
    case "error":
      return `${event.code}: ${event.message}`;
    default:
      return unknown(event);
  }
}

/** Newer servers may send kinds that this version does not know. */
function unknown(_event: never): string {
  return "";
}

function written(event: Extract<ParleyEvent, { artifactId: string }>): string {
  return event.kind === "data-write"
    ? ""
    : event.kind === "file-write"
      ? `${event.data.length} characters${event.complete ? ", complete" : ""}`
      : `${event.rows.length} rows${event.complete ? ", complete" : ""}`;
}

function money(costUsd: number | undefined): string {
  return costUsd === undefined ? "" : `, $${costUsd}`;
}

function short(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.slice(0, LINE_MAX);
}
