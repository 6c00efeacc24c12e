import type { JsonObject, ParleyEvent } from "./events.js";
import { tokensOf } from "./tokens.js";
import type { TaskState } from "./types.js";

/** An event in the `format=workflow` dialect. Older events lack fields. */
export interface WorkflowEvent {
  readonly event_type: string;
  readonly event_id?: string;
  readonly seq?: number;
  readonly sub_seq?: number;
  readonly timestamp?: string;
  readonly task_id?: string | null;
  readonly parent_task_id?: string | null;
  readonly spawned_by_call_id?: string | null;
  readonly invocation_id?: string | null;
  readonly call_id?: string | null;
  readonly agent_id?: string | null;
  readonly [name: string]: unknown;
}

/** The sub-agents that a call announces. */
export interface Announced {
  readonly taskIds: readonly string[];
  readonly count: number;
}

/** The facts of an event that determine its place, in either dialect. */
export interface Facts {
  /** Its number; undefined in logs without numbers. */
  readonly seq: number | undefined;
  readonly k: number;
  readonly taskId: string | undefined;
  readonly parentTaskId: string | undefined;
  readonly spawnedBy: string | undefined;
  readonly invocation: string | undefined;
  readonly agentId: string | undefined;
  /** True if the event creates its task. */
  readonly begins: boolean;
  readonly call:
    | { readonly id: string; readonly tool: string; readonly announced: Announced | undefined }
    | undefined;
  /** A sub-agent that is created. */
  readonly asked: { readonly taskId: string; readonly agentId: string | undefined } | undefined;
  /** A sub-agent that ended, according to its parent. */
  readonly ended: { readonly taskId: string; readonly status: TaskState } | undefined;
  readonly status: TaskState | undefined;
  readonly tokens: number;
  readonly toolCalls: number;
}

const PHASES: Readonly<Record<string, TaskState>> = {
  submitted: "submitted",
  running: "working",
  waiting_input: "waiting-input",
  waiting_auth: "waiting-auth",
  waiting_subtask: "waiting-subtask",
  succeeded: "completed",
  failed: "failed",
  cancelled: "canceled",
};

/** The facts of an event, in either dialect. */
export function factsOf(event: ParleyEvent | WorkflowEvent): Facts {
  return "event_type" in event
    ? ofWorkflow(event as WorkflowEvent)
    : ofNative(event as ParleyEvent);
}

function ofNative(event: ParleyEvent): Facts {
  const tool = event.kind === "tool-start" || event.kind === "tool-complete" ? event : undefined;
  // In these two kinds, `agentId` is not the agent of the task.
  const another = event.kind === "subtask-created" || event.kind === "input-received";
  return {
    seq: event.seq,
    k: event.k ?? 0,
    taskId: event.taskId,
    parentTaskId: event.parentTaskId,
    spawnedBy: event.spawnedByCallId,
    invocation: event.invocationId,
    agentId: another ? undefined : event.agentId,
    begins: event.kind === "task-created",
    call: tool && { id: tool.toolCallId, tool: tool.toolName, announced: tool.subagentMetadata },
    asked:
      event.kind === "subtask-created"
        ? { taskId: event.subtaskId, agentId: event.agentId }
        : undefined,
    ended:
      event.kind === "subtask-complete"
        ? { taskId: event.subtaskId, status: event.status }
        : undefined,
    status:
      event.kind === "task-status"
        ? event.status
        : event.kind === "task-complete"
          ? "completed"
          : undefined,
    tokens: event.kind === "usage" ? tokensOf(event) : 0,
    toolCalls: event.kind === "tool-start" && (event.attempt ?? 1) <= 1 ? 1 : 0,
  };
}

function ofWorkflow(event: WorkflowEvent): Facts {
  const type = event.event_type;
  const tool = type === "workflow.tool.started" || type === "workflow.tool.completed";
  const details = object(event["details"]);
  const task = type === "workflow.lifecycle.updated" && event["scope"] === "task";
  return {
    seq: event.seq,
    k: event.sub_seq ?? 0,
    taskId: event.task_id ?? undefined,
    parentTaskId: event.parent_task_id ?? undefined,
    spawnedBy: event.spawned_by_call_id ?? undefined,
    invocation: event.invocation_id || undefined,
    agentId: event.agent_id ?? undefined,
    begins: task && event["phase"] === "created",
    call:
      tool && typeof event.call_id === "string"
        ? {
            id: event.call_id,
            tool: text(event["tool_name"]) ?? "",
            announced: announcedBy(object(event["subagent_metadata"])),
          }
        : undefined,
    ...subflow(event),
    status: statusOf(event, task),
    tokens:
      type === "workflow.diagnostic.usage"
        ? number(details["input_tokens"]) + number(details["output_tokens"])
        : 0,
    toolCalls: type === "workflow.tool.started" && number(event["attempt"]) <= 1 ? 1 : 0,
  };
}

/** A `subflow` event reports that a sub-agent was created or has ended. */
function subflow(event: WorkflowEvent): Pick<Facts, "asked" | "ended"> {
  const taskId = text(event["subtask_id"]);
  if (!event.event_type.startsWith("workflow.subflow.") || taskId === undefined) {
    return { asked: undefined, ended: undefined };
  }
  const status = PHASES[text(event["subtask_status"]) ?? ""];
  return status === "submitted" || status === undefined
    ? { asked: { taskId, agentId: text(event["subtask_agent_id"]) }, ended: undefined }
    : { asked: undefined, ended: { taskId, status } };
}

function statusOf(event: WorkflowEvent, task: boolean): TaskState | undefined {
  switch (event.event_type) {
    case "workflow.result.final":
      return event["status"] === "failed" ? "failed" : "completed";
    case "workflow.result.cancelled":
      return "canceled";
    default:
      return task ? PHASES[text(event["phase"]) ?? ""] : undefined;
  }
}

function announcedBy(metadata: JsonObject): Announced | undefined {
  const ids = metadata["task_ids"];
  if (!Array.isArray(ids)) {
    return undefined;
  }
  return { taskIds: ids.map(String), count: number(metadata["count"]) || ids.length };
}

function object(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? (value as JsonObject) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
