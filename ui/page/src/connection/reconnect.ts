import type { Conversation, ContextList } from "@parley/client";
import { useEffect } from "preact/hooks";
import { useSession } from "../app/session.js";
import { startProbe } from "./probe.js";

/** A hidden tab closes its connection after this time, because browsers limit connections. */
const HIDDEN_MS = 60_000;
const TICK_MS = 5_000;
const ASLEEP_MS = 15_000;

/** Calls `away` when the page has been hidden for a while, and `back` when it is visible again. */
function onVisibilityChange(away: () => void, back: () => void): () => void {
  let hidden: ReturnType<typeof setTimeout> | undefined;
  const looked = (): void => {
    clearTimeout(hidden);
    if (document.visibilityState === "hidden") {
      hidden = setTimeout(away, HIDDEN_MS);
    } else {
      back();
    }
  };
  if (document.visibilityState === "hidden") {
    looked();
  }
  document.addEventListener("visibilitychange", looked);
  return () => {
    clearTimeout(hidden);
    document.removeEventListener("visibilitychange", looked);
  };
}

/** Polls the list only rarely while the page is hidden. */
export function usePauseWhenHidden(contextList: ContextList): void {
  useEffect(
    () =>
      onVisibilityChange(
        () => contextList.pause(),
        () => contextList.resume(),
      ),
    [contextList],
  );
}

/** Reconnects a conversation after a hidden tab, sleep or a network change. */
export function useReconnect(conversation: Conversation): void {
  const { api, contextList } = useSession();
  useEffect(() => {
    const { live } = conversation;
    let ticked = Date.now();
    const back = (): void => {
      live.reconnect();
      contextList.refresh();
    };
    const stopLooking = onVisibilityChange(
      () => live.pause(),
      () => live.resume(),
    );
    // A jump in time means that the machine slept; the connection is probably dead.
    const tick = setInterval(() => {
      if (Date.now() - ticked > ASLEEP_MS && document.visibilityState === "visible") {
        back();
      }
      ticked = Date.now();
    }, TICK_MS);
    // Reconnection delays grow, so check more often whether an unreachable server is back. A server
    // that rejected the request sets its own delay.
    const stopProbing = startProbe({
      enabled: () =>
        live.get().connection?.unreachable === true && document.visibilityState === "visible",
      check: (signal) => api.http.request({ path: "/healthz", signal }),
      onReachable: back,
    });
    addEventListener("online", back);
    // Without a network the connection is dead, but detecting that takes long.
    addEventListener("offline", back);
    return () => {
      stopLooking();
      clearInterval(tick);
      stopProbing();
      removeEventListener("online", back);
      removeEventListener("offline", back);
    };
  }, [conversation, api, contextList]);
}
