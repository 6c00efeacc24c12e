import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/**
 * Puts the focus here when it appears, before the next key could go elsewhere. Not where that would
 * bring up a keyboard of glass.
 */
export function useFocus(element: RefObject<HTMLElement | null>, wanted = true): void {
  useLayoutEffect(() => {
    if (wanted && matchMedia("(pointer: fine)").matches) {
      element.current?.focus({ preventScroll: true });
    }
  }, []);
}
