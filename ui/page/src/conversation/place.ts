import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useSetting } from "./scene.js";

/** A place within a sub-agent: when a link leads to it, it comes into sight as soon as it is there. */
export function useLinkedPlace(key: string): {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly marked: true | undefined;
} {
  const { link, route } = useSetting();
  const box = useRef<HTMLDivElement>(null);
  const marked = link.place === key || undefined;
  useLayoutEffect(() => {
    if (marked) {
      const high = (box.current?.offsetHeight ?? 0) > innerHeight / 2;
      box.current?.scrollIntoView({ block: high ? "start" : "center" });
    }
  }, [marked, route]);
  return { box, marked };
}
