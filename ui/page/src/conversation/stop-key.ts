import { useKeys } from "../app/hooks.js";
import { MODIFIER } from "../app/typing.js";

/** The shortcut that stops a task, for display. */
export const STOP_KEYS = `${MODIFIER}+Shift+.`;

/** Stops the task on Ctrl (or Command), Shift and period, which nobody presses by accident. */
export function useStopKey(active: boolean, stop: () => void): void {
  useKeys((event) => {
    const command = (event.ctrlKey || event.metaKey) && event.shiftKey && !event.altKey;
    if (active && command && event.code === "Period") {
      event.preventDefault();
      stop();
    }
  });
}
