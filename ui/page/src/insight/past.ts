import { type ContextState, Past } from "@parley/client";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useStore } from "../app/hooks.js";
import { parseRoute, replace, type Route } from "../app/route.js";
import { useSession } from "../app/session.js";
import { useSetting } from "../conversation/scene.js";

/** The address follows when the hand rests: browsers allow few changes of it in a second. */
const RESTS_MS = 200;

/** What is looked at: the past, if the address or the slider says so, or else what is now. */
export function usePast(contextId: string, route: Route, now: ContextState | undefined) {
  const { api } = useSession();
  const past = useMemo(() => new Past(api, contextId), [api, contextId]);
  useEffect(() => () => past.close(), [past]);
  // What the address was made to say by the slider's last rest: the slider may be elsewhere by now.
  const echo = useRef<{ at: number | undefined }>(undefined);
  useEffect(() => {
    const own = echo.current !== undefined && echo.current.at === route.at;
    echo.current = undefined;
    if (!own) {
      past.go(route.at);
    }
  }, [past, route.at]);
  const { at, beyond, context, error } = useStore(past);
  useEffect(() => {
    // Not a matter of the slider's: it may be gone before the address has followed. Whoever went
    // elsewhere by the address meanwhile, though, is there.
    const settle = (): void => {
      const moved = past.get().at;
      if (moved !== route.at && parseRoute(location.hash).at === route.at) {
        echo.current = { at: moved };
        replace({ contextId, at: moved });
      }
    };
    const timer = setTimeout(settle, RESTS_MS);
    return () => clearTimeout(timer);
  }, [past, at, route.at]);
  const wanted = at ?? route.at;
  // Until the past is loaded, what was shown before it stays.
  const last = useRef<ContextState>(undefined);
  const before = last.current ?? (error === undefined ? undefined : now);
  last.current = wanted === undefined ? now : (context ?? before);
  return { past, at: wanted, beyond, context: last.current, error };
}

/** Leaves the past, if that is where one is. */
export function useToNow(): () => void {
  const { past, asOf, conversation } = useSetting();
  return () => {
    if (asOf !== undefined) {
      past.go(undefined);
      replace({ contextId: conversation.contextId });
    }
  };
}
