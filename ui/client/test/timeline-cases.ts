import { readFileSync } from "node:fs";
import type {
  ParleyEvent,
  SubagentThread,
  Timeline,
  TimelineItem,
  WorkflowEvent,
} from "../src/index.js";

/** A compact event; the file's `defaults` contain the rest. */
export type CompactEvent = { kind: string; seq?: number } & Record<string, unknown>;

/**
 * An item in the form of the cases: the number of an event, or a group at the event that started
 * it.
 */
export type Shape = number | { at: number; progress: number[]; threads: ThreadShape[] };

export interface ThreadShape {
  task: string;
  agent?: string;
  status: string;
  items: Shape[];
}

export interface Case {
  name: string;
  events: CompactEvent[];
  items: Shape[];
  orphans: ThreadShape[];
}

interface CaseFile {
  defaults: Record<string, Record<string, unknown>>;
  cases: Case[];
}

/** The folder of the cases, which the Java client runs too. */
export const CASES = new URL("../../test/cases/", import.meta.url);

export function readCases(file: string): CaseFile {
  return JSON.parse(readFileSync(new URL(file, CASES), "utf8")) as CaseFile;
}

const { defaults } = readCases("timeline.json");

/** The events in full. */
export function complete(events: readonly CompactEvent[]): ParleyEvent[] {
  return events.map((event, i) => {
    const seq = event.seq ?? i + 1;
    const eventId = `00000000-0000-0000-0000-${String(seq).padStart(12, "0")}`;
    const common = { seq, eventId, contextId: "c", timestamp: "2026-11-15T10:00:00.000Z" };
    const named =
      event.kind === "subtask-created" || event.kind === "input-received"
        ? {}
        : { agentId: "agent" };
    const level = event["parentTaskId"] === undefined ? "core" : "subagent";
    const origin =
      event["taskId"] === undefined ? {} : { rootTaskId: "core", agentLevel: level, ...named };
    return { ...common, ...origin, ...defaults[event.kind], ...event } as unknown as ParleyEvent;
  });
}

/** A timeline in the form of the cases. */
export function shape(
  timeline: Timeline<ParleyEvent | WorkflowEvent>,
): Pick<Case, "items" | "orphans"> {
  return { items: timeline.items.map(itemShape), orphans: timeline.orphans.map(threadShape) };
}

export function itemShape(item: TimelineItem<ParleyEvent | WorkflowEvent>): Shape {
  if (item.kind === "event") {
    return item.event.seq ?? 0;
  }
  const { total, completed, succeeded, failed, tokens, toolCalls } = item.progress;
  const progress = [total, completed, succeeded, failed, tokens, toolCalls];
  return { at: item.trigger.seq ?? 0, progress, threads: item.threads.map(threadShape) };
}

function threadShape(thread: SubagentThread<ParleyEvent | WorkflowEvent>): ThreadShape {
  const agent = thread.agentId === undefined ? {} : { agent: thread.agentId };
  return {
    task: thread.taskId,
    ...agent,
    status: thread.status,
    items: thread.items.map(itemShape),
  };
}

const PHASES: Record<string, string> = {
  working: "running",
  "waiting-input": "waiting_input",
  completed: "succeeded",
  canceled: "cancelled",
};

/** The event in the `format=workflow` dialect, as far as needed here. */
export function toWorkflow(event: ParleyEvent): WorkflowEvent {
  const envelope = {
    event_id: event.eventId,
    seq: event.seq,
    sub_seq: event.k ?? 0,
    task_id: event.taskId ?? null,
    parent_task_id: event.parentTaskId ?? null,
    spawned_by_call_id: event.spawnedByCallId ?? null,
    invocation_id: event.spawnedByCallId ?? "",
    agent_id: event.kind === "subtask-created" ? "agent" : (event.agentId ?? null),
    call_id: event.spawnedByCallId ?? null,
  };
  const phase = (status: string): string => PHASES[status] ?? status;
  switch (event.kind) {
    case "tool-start":
    case "tool-complete": {
      const known = event.subagentMetadata;
      return {
        ...envelope,
        event_type:
          event.kind === "tool-start" ? "workflow.tool.started" : "workflow.tool.completed",
        call_id: event.toolCallId,
        tool_name: known === undefined ? event.toolName : "subagent",
        attempt: event.kind === "tool-start" ? (event.attempt ?? null) : null,
        subagent_metadata:
          known === undefined
            ? null
            : { task_ids: known.taskIds, count: known.count, mode: known.mode },
      };
    }
    case "task-created":
      return {
        ...envelope,
        event_type: "workflow.lifecycle.updated",
        scope: "task",
        phase: "created",
        details: {},
      };
    case "task-status":
      if (event.status === "failed") {
        return { ...envelope, event_type: "workflow.result.final", status: "failed" };
      }
      return event.status === "canceled"
        ? { ...envelope, event_type: "workflow.result.cancelled", status: "cancelled" }
        : {
            ...envelope,
            event_type: "workflow.lifecycle.updated",
            scope: "task",
            phase: phase(event.status),
          };
    case "task-complete":
      return { ...envelope, event_type: "workflow.result.final", status: "succeeded" };
    case "usage": {
      const details = { input_tokens: event.inputTokens, output_tokens: event.outputTokens };
      return { ...envelope, event_type: "workflow.diagnostic.usage", topic: "usage", details };
    }
    case "subtask-created": {
      const asked = {
        subtask_id: event.subtaskId,
        subtask_status: "submitted",
        subtask_agent_id: event.agentId ?? null,
      };
      return { ...envelope, event_type: "workflow.subflow.progress", ...asked };
    }
    case "subtask-complete": {
      const ended = { subtask_id: event.subtaskId, subtask_status: phase(event.status) };
      return { ...envelope, event_type: "workflow.subflow.completed", ...ended };
    }
    default:
      return { ...envelope, event_type: "workflow.node.output.delta", delta: "x" };
  }
}
