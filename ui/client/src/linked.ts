import type { ParleyApi } from "./api.js";
import { ParleyError } from "./errors.js";
import type { ParleyEvent } from "./events.js";

/** What a link names: an event, or a task. */
export interface LinkTarget {
  readonly seq: number | undefined;
  readonly taskId: string | undefined;
}

/** Where a link leads. */
export interface Linked {
  /** Where it begins in the log. */
  readonly seq: number;
  readonly taskId: string | undefined;
  readonly event: ParleyEvent | undefined;
}

/**
 * Where the event or the task of a link is: it may be long past, or in a sub-agent. Undefined if
 * there is no such thing; a failure that may pass is thrown.
 */
export async function findLinked(
  api: ParleyApi,
  contextId: string,
  { seq, taskId }: LinkTarget,
  signal: AbortSignal,
): Promise<Linked | undefined> {
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
    if (failure instanceof ParleyError && !failure.passing) {
      return undefined;
    }
    throw failure;
  }
}
