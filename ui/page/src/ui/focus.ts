import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** Puts the focus here when it appears. Not where that would bring up a keyboard of glass. */
export function useFocus(element: RefObject<HTMLElement | null>, wanted = true): void {
  useEffect(() => {
    if (wanted && matchMedia("(pointer: fine)").matches) {
      element.current?.focus({ preventScroll: true });
    }
  }, []);
}
