import { useKeys } from "../app/hooks.js";
import { MODIFIER } from "../app/typing.js";

/** The keys that stop a task, as people read them. */
export const STOP_KEYS = `${MODIFIER}+Shift+.`;

/** Stops when Ctrl or Command, Shift and the period are pressed together: nobody types that. */
export function useStopKey(active: boolean, stop: () => void): void {
  useKeys((event) => {
    const command = (event.ctrlKey || event.metaKey) && event.shiftKey && !event.altKey;
    if (active && command && event.code === "Period") {
      event.preventDefault();
      stop();
    }
  });
}
