import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useConversation } from "./conversation-context.js";

/** Scrolls a row inside a sub-agent into view when a link points to it. */
export function useLinkedRow(key: string): {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly marked: true | undefined;
} {
  const { link, route } = useConversation();
  const box = useRef<HTMLDivElement>(null);
  const marked = link.rowKey === key || undefined;
  useLayoutEffect(() => {
    if (marked) {
      const high = (box.current?.offsetHeight ?? 0) > innerHeight / 2;
      box.current?.scrollIntoView({ block: high ? "start" : "center" });
    }
  }, [marked, route]);
  return { box, marked };
}
