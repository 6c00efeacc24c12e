import { type ContextState, Past } from "@parley/client";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useStore } from "../app/hooks.js";
import type { Route } from "../app/route.js";
import { useSession } from "../app/session.js";

/** What is looked at: the past, if the address or the slider says so, or else what is now. */
export function usePast(contextId: string, route: Route, now: ContextState | undefined) {
  const { api } = useSession();
  const past = useMemo(() => new Past(api, contextId), [api, contextId]);
  useEffect(() => () => past.close(), [past]);
  useEffect(() => past.go(route.at), [past, route.at]);
  const { at, context, error } = useStore(past);
  const wanted = at ?? route.at;
  // Until the past is loaded, what was shown before it stays.
  const last = useRef<ContextState>(undefined);
  const before = last.current ?? (error === undefined ? undefined : now);
  last.current = wanted === undefined ? now : (context ?? before);
  return { past, at: wanted, context: last.current, error };
}
