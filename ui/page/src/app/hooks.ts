import type { Store } from "@parley/client";
import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";

/** A page that nobody looks at draws no frames, but is to be right when somebody does. */
const HIDDEN_MS = 250;

/** What a store holds, drawn at most once a frame however often it changes. */
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

/** As in the styles: the list and what is open stand below one another. */
export const NARROW = "(max-width: 44rem)";

/** True while this holds of the screen. */
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

/** The time, again and again, while something shows how it passes. */
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

/** A setting of this browser. What cannot be kept lasts as long as the page. */
export function useSetting(name: string, usual: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => read(name) ?? usual);
  return [
    value,
    (next) => {
      setValue(next);
      try {
        localStorage.setItem(`parley.${name}`, next);
      } catch {
        // Some browsers keep nothing; then it is for now only.
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

/** Calls the newest `listener` for keys pressed anywhere, once each, unless a dialog is open. */
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

/** Where people type or choose. */
export const FIELDS = "input, textarea, select, [contenteditable]";

/** True while somebody types. */
export function typing(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return target?.closest(FIELDS) !== null;
}
