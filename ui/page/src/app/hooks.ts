import type { Store } from "@parley/client";
import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { useSession } from "./session.js";

/** Hidden pages get no animation frames; this timer updates them. */
const HIDDEN_MS = 250;

/** The value of a store; redraws at most once per frame. */
export function useStore<T>(store: Store<T>): T {
  const [, draw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    let frame = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const now = (): void => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      frame = 0;
      timer = undefined;
      draw(undefined);
    };
    const changed = (): void => {
      if (frame === 0) {
        frame = requestAnimationFrame(now);
        timer = setTimeout(now, HIDDEN_MS);
      }
    };
    changed();
    const stop = store.subscribe(changed);
    return () => {
      stop();
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [store]);
  return store.get();
}

/** The breakpoint of the styles below which the list is above the conversation. */
export const NARROW = "(max-width: 44rem)";

/** True while the media query matches. */
export function useMedia(query: string): boolean {
  const media = useMemo(() => matchMedia(query), [query]);
  const [holds, setHolds] = useState(media.matches);
  useEffect(() => {
    const changed = (): void => setHolds(media.matches);
    changed();
    media.addEventListener("change", changed);
    return () => media.removeEventListener("change", changed);
  }, [media]);
  return holds;
}

/** The current time, updated at an interval while `active`. */
export function useNow(everyMs: number, active = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!active) {
      return undefined;
    }
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, active]);
  return now;
}

/** The current time, updated once a second while `active` and the page is visible. */
export function useLiveTime(active: boolean): number {
  const { clock } = useSession();
  const [, draw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    if (!active) {
      return undefined;
    }
    const unsubscribe = clock.subscribe(() => draw(undefined));
    const stop = clock.run();
    return () => {
      stop();
      unsubscribe();
    };
  }, [clock, active]);
  return clock.get();
}

/** A setting stored in this browser, or for this page if storage is not available. */
export function useSetting(name: string, usual: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => read(name) ?? usual);
  return [
    value,
    (next) => {
      setValue(next);
      try {
        localStorage.setItem(`parley.${name}`, next);
      } catch {
        // Storage may be disabled; the value then lasts as long as the page.
      }
    },
  ];
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(`parley.${name}`);
  } catch {
    return null;
  }
}

/** Calls the latest `listener` for each key press, unless a dialog is open. */
export function useKeys(listener: (event: KeyboardEvent) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (!event.repeat && document.querySelector("dialog[open]") === null) {
        latest.current(event);
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

/** Elements for input. */
export const FIELDS = "input, textarea, select, [contenteditable]";

/** True if the event comes from an input element. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return target?.closest(FIELDS) !== null;
}
