import type { Conversation, Home } from "@parley/client";
import { useEffect } from "preact/hooks";
import { useSession } from "../app/session.js";
import { probing } from "./probe.js";

/** A tab that nobody looks at for so long gives its connection back: browsers have few of them. */
const HIDDEN_MS = 60_000;
const TICK_MS = 5_000;
const ASLEEP_MS = 15_000;

/** Tells when nobody has looked at the page for a while, and when somebody does again. */
function looking(away: () => void, back: () => void): () => void {
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

/** Keeps the list up to date while somebody looks. */
export function useWatchedHome(home: Home): void {
  useEffect(
    () =>
      looking(
        () => home.pause(),
        () => home.resume(),
      ),
    [home],
  );
}

/** Keeps a conversation connected whatever happens to the tab, the machine and the network. */
export function useWatch(conversation: Conversation): void {
  const { api, home } = useSession();
  useEffect(() => {
    const { live } = conversation;
    let ticked = Date.now();
    const back = (): void => {
      live.reconnect();
      home.refresh();
    };
    const stopLooking = looking(
      () => live.pause(),
      () => live.resume(),
    );
    // Time that has passed at once has been slept through, and the connection with it.
    const tick = setInterval(() => {
      if (Date.now() - ticked > ASLEEP_MS && document.visibilityState === "visible") {
        back();
      }
      ticked = Date.now();
    }, TICK_MS);
    // Waits grow while a server is away; the person in front of the page is to see it come back.
    // One that answered, and refused, has said when to come again.
    const stopProbing = probing({
      wanted: () =>
        live.get().connection?.unreachable === true && document.visibilityState === "visible",
      ask: (signal) => api.http.answer({ path: "/healthz", signal }),
      found: back,
    });
    addEventListener("online", back);
    // Without a network the connection is dead, though it takes long silence to know.
    addEventListener("offline", back);
    return () => {
      stopLooking();
      clearInterval(tick);
      stopProbing();
      removeEventListener("online", back);
      removeEventListener("offline", back);
    };
  }, [conversation, api, home]);
}
