import {
  type ContextView,
  type TraceSelection,
  selectionOfRow,
  rowKeysOf,
  type Store,
} from "@parley/client";
import { useEffect, useRef } from "preact/hooks";

const POINTED = "data-pointed";

/** Highlights the selected row of the conversation, and selects the row under the pointer. */
export function useThreadSelection(
  view: ContextView,
  selection: Store<TraceSelection | undefined>,
): void {
  const latest = useRef(view);
  latest.current = view;
  useEffect(() => {
    const show = (): void => {
      const selected = selection.get();
      document.querySelector(`[${POINTED}]`)?.removeAttribute(POINTED);
      const places = selected === undefined ? [] : rowKeysOf(latest.current, selected);
      for (const place of places) {
        const element = document.querySelector(`.thread [data-key="${CSS.escape(place)}"]`);
        if (element !== null) {
          const visible = element.closest(".fold:not([open])") ?? element;
          visible.setAttribute(POINTED, "");
          return;
        }
      }
    };
    const over = (event: Event): void => {
      const target = event.target as Element;
      const row = target.closest(".thread [data-key]")?.getAttribute("data-key") ?? undefined;
      if (row !== undefined) {
        if (row !== selection.get()?.row) {
          selection.set(selectionOfRow(latest.current, row));
        }
      } else if (target.closest(".thread") !== null) {
        selection.set(undefined);
      }
    };
    const stop = selection.subscribe(show);
    document.addEventListener("mouseover", over);
    return () => {
      stop();
      document.removeEventListener("mouseover", over);
      document.querySelector(`[${POINTED}]`)?.removeAttribute(POINTED);
    };
  }, [selection]);
}
