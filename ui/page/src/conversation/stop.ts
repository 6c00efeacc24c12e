import { useEffect, useState } from "preact/hooks";
import { typing, useKeys } from "../app/hooks.js";

const AGAIN_MS = 2_000;

/** Stops when Escape is pressed twice; true in between. */
export function useStopKey(active: boolean, stop: () => void): boolean {
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    if (!asked) {
      return undefined;
    }
    const timer = setTimeout(() => setAsked(false), AGAIN_MS);
    return () => clearTimeout(timer);
  }, [asked]);
  useKeys((event) => {
    if (event.key !== "Escape" || !active || event.isComposing || isForOthers(event)) {
      return;
    }
    if (asked) {
      stop();
    }
    setAsked(!asked);
  });
  return asked && active;
}

/** Panels, menus and fields close or clear themselves with Escape; the box to write in does not. */
function isForOthers(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  if (target.matches(".composer > textarea")) {
    return false;
  }
  return typing(event) || target.closest(".panel, details[open]") !== null;
}
