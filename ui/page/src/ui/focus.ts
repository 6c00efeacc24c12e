import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/**
 * Focuses an element when it appears, before the next key press. Not on touch screens, where it
 * would open the keyboard.
 */
export function useFocus(element: RefObject<HTMLElement | null>, wanted = true): void {
  useLayoutEffect(() => {
    if (wanted && matchMedia("(pointer: fine)").matches) {
      element.current?.focus({ preventScroll: true });
    }
  }, []);
}
