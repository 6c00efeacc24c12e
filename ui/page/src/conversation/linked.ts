import type { ParleyApi, ParleyEvent } from "@parley/client";
import { useEffect, useState } from "preact/hooks";
import type { Route } from "../app/route.js";
import { useSession } from "../app/session.js";

/** What the address leads to. */
export interface Linked {
  /** Where it begins in the log. */
  readonly seq: number;
  readonly taskId: string | undefined;
  readonly event: ParleyEvent | undefined;
}

/** Where the event or the task of an address is: it may be long past, or in a sub-agent. */
export function useLinked(contextId: string, { seq, taskId }: Route): Linked | undefined {
  const { api } = useSession();
  const [known, setKnown] = useState<{ of: string; linked: Linked | undefined }>();
  const of = JSON.stringify([contextId, seq, taskId]);
  useEffect(() => {
    const gone = new AbortController();
    const tell = (linked: Linked | undefined): void => {
      if (!gone.signal.aborted) {
        setKnown({ of, linked });
      }
    };
    // A link that leads nowhere leaves one in the conversation.
    find(api, contextId, { seq, taskId }, gone.signal).then(tell, () => tell(undefined));
    return () => gone.abort();
  }, [api, of]);
  return known?.of === of ? known.linked : undefined;
}

async function find(
  api: ParleyApi,
  contextId: string,
  { seq, taskId }: Pick<Route, "seq" | "taskId">,
  signal: AbortSignal,
): Promise<Linked | undefined> {
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
}
