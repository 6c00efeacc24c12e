import { resolveLink, type ResolvedLink, ParleyError } from "@parley/client";
import { useEffect, useState } from "preact/hooks";
import type { Route } from "../app/route.js";
import { useSession } from "../app/session.js";

/** Delay before a retry. */
const RETRY_MS = 2_000;

interface Known {
  readonly of: string;
  readonly resolved: ResolvedLink | undefined;
  /** True if the target does not exist. */
  readonly notFound: boolean;
}

/** Resolves the event or task of the address. */
export function useResolvedLink(contextId: string, { seq, taskId }: Route): Partial<Known> {
  const { api } = useSession();
  const [known, setKnown] = useState<Known>();
  const of = JSON.stringify([contextId, seq, taskId]);
  useEffect(() => {
    const gone = new AbortController();
    const asked = seq !== undefined || taskId !== undefined;
    const update = (resolved: ResolvedLink | undefined, answered: boolean): void => {
      if (!gone.signal.aborted) {
        setKnown({ of, resolved, notFound: asked && answered && resolved === undefined });
      }
    };
    let retry: ReturnType<typeof setTimeout> | undefined;
    const find = (): void =>
      void resolveLink(api, contextId, { seq, taskId }, gone.signal).then(
        (resolved) => update(resolved, true),
        (failure: unknown) => {
          update(undefined, false);
          if (!gone.signal.aborted && failure instanceof ParleyError && failure.retryable) {
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
