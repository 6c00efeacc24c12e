import { type ContextState, Past } from "@parley/client";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useStore } from "../app/hooks.js";
import { formatRoute, parseRoute, type Route } from "../app/route.js";
import { useSession } from "../app/session.js";

/** The address follows when the hand rests: browsers allow few changes of it in a second. */
const RESTS_MS = 200;

/** What is looked at: the past, if the address or the slider says so, or else what is now. */
export function usePast(contextId: string, route: Route, now: ContextState | undefined) {
  const { api } = useSession();
  const past = useMemo(() => new Past(api, contextId), [api, contextId]);
  useEffect(() => () => past.close(), [past]);
  useEffect(() => past.go(route.at), [past, route.at]);
  const { at, context, error } = useStore(past);
  useEffect(() => {
    // Not a matter of the slider's: it may be gone before the address has followed.
    const settle = (): void => {
      if (past.get().at !== parseRoute(location.hash).at) {
        location.replace(formatRoute({ contextId, at: past.get().at }));
      }
    };
    const timer = setTimeout(settle, RESTS_MS);
    return () => clearTimeout(timer);
  }, [past, at]);
  const wanted = at ?? route.at;
  // Until the past is loaded, what was shown before it stays.
  const last = useRef<ContextState>(undefined);
  const before = last.current ?? (error === undefined ? undefined : now);
  last.current = wanted === undefined ? now : (context ?? before);
  return { past, at: wanted, context: last.current, error };
}
