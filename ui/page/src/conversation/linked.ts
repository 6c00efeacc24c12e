import { findLinked, type Linked, ParleyError } from "@parley/client";
import { useEffect, useState } from "preact/hooks";
import type { Route } from "../app/route.js";
import { useSession } from "../app/session.js";

/** What could not be had for a moment is asked for again after this. */
const RETRY_MS = 2_000;

interface Known {
  readonly of: string;
  readonly linked: Linked | undefined;
  /** True if it is known to lead nowhere. */
  readonly nowhere: boolean;
}

/** Where the address leads in a conversation, or that it leads nowhere. */
export function useLinked(contextId: string, { seq, taskId }: Route): Partial<Known> {
  const { api } = useSession();
  const [known, setKnown] = useState<Known>();
  const of = JSON.stringify([contextId, seq, taskId]);
  useEffect(() => {
    const gone = new AbortController();
    const asked = seq !== undefined || taskId !== undefined;
    const tell = (linked: Linked | undefined, answered: boolean): void => {
      if (!gone.signal.aborted) {
        setKnown({ of, linked, nowhere: asked && answered && linked === undefined });
      }
    };
    let retry: ReturnType<typeof setTimeout> | undefined;
    const find = (): void =>
      void findLinked(api, contextId, { seq, taskId }, gone.signal).then(
        (linked) => tell(linked, true),
        (failure: unknown) => {
          tell(undefined, false);
          if (!gone.signal.aborted && failure instanceof ParleyError && failure.passing) {
            retry = setTimeout(find, RETRY_MS);
          }
        },
      );
    find();
    return () => {
      clearTimeout(retry);
      gone.abort();
    };
  }, [api, of]);
  return known?.of === of ? known : {};
}
