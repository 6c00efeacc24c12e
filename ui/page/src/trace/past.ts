import { type ContextState, Past } from "@parley/client";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useStore } from "../app/hooks.js";
import { parseRoute, replace, type Route } from "../app/route.js";
import { useSession } from "../app/session.js";
import { useConversation } from "../conversation/conversation-context.js";

/** The address is updated when the slider rests, because browsers limit updates. */
const RESTS_MS = 200;

/** The shown state: the past, if the address or the slider selects it, or now. */
export function usePast(contextId: string, route: Route, now: ContextState | undefined) {
  const { api } = useSession();
  const past = useMemo(() => new Past(api, contextId), [api, contextId]);
  useEffect(() => () => past.close(), [past]);
  // The position that the slider last wrote to the address; the slider may have moved since.
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
    // Done here, because the slider may be closed before the address is updated. A later navigation
    // by address wins.
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
  // The previous state stays visible until the past is loaded.
  const last = useRef<ContextState>(undefined);
  const before = last.current ?? (error === undefined ? undefined : now);
  last.current = wanted === undefined ? now : (context ?? before);
  return { past, at: wanted, beyond, context: last.current, error };
}

/** Returns from the past to now. */
export function useReturnToNow(): () => void {
  const { past, asOf, conversation } = useConversation();
  return () => {
    if (asOf !== undefined) {
      past.go(undefined);
      replace({ contextId: conversation.contextId });
    }
  };
}
