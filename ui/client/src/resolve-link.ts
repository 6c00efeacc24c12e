import type { ParleyApi } from "./api.js";
import { ParleyError } from "./errors.js";
import type { ParleyEvent } from "./events.js";

/** The event or task that a link names. */
export interface LinkTarget {
  readonly seq: number | undefined;
  readonly taskId: string | undefined;
}

/** A resolved link. */
export interface ResolvedLink {
  /** The position in the log where it begins. */
  readonly seq: number;
  readonly taskId: string | undefined;
  readonly event: ParleyEvent | undefined;
}

/**
 * Finds the event or task of a link, including old ones and those of sub-agents. Returns undefined
 * if it does not exist; throws on temporary failures.
 */
export async function resolveLink(
  api: ParleyApi,
  contextId: string,
  { seq, taskId }: LinkTarget,
  signal: AbortSignal,
): Promise<ResolvedLink | undefined> {
  try {
    if (seq !== undefined) {
      const { events } = await api.events(contextId, { after: seq - 1, limit: 1, signal });
      const [event] = events;
      return event && { seq, taskId: event.taskId, event };
    }
    if (taskId !== undefined) {
      const task = await api.task(contextId, taskId, { signal });
      return { seq: task.seq, taskId, event: undefined };
    }
    return undefined;
  } catch (failure) {
    if (failure instanceof ParleyError && !failure.retryable) {
      return undefined;
    }
    throw failure;
  }
}
