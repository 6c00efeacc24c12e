import { type Mark, markOfRow, placesOf, type Store } from "@parley/client";
import { useEffect, useRef } from "preact/hooks";
import { useScene } from "../conversation/scene.js";

const POINTED = "data-pointed";

/** Marks the row of the conversation that is pointed at elsewhere, and the other way round. */
export function useConversationMarks(mark: Store<Mark | undefined>): void {
  const { view } = useScene();
  const latest = useRef(view);
  latest.current = view;
  useEffect(() => {
    const show = (): void => {
      const marked = mark.get();
      document.querySelector(`[${POINTED}]`)?.removeAttribute(POINTED);
      const places = marked === undefined ? [] : placesOf(latest.current, marked);
      for (const place of places) {
        const element = document.querySelector(`.thread [data-key="${CSS.escape(place)}"]`);
        if (element !== null) {
          element.setAttribute(POINTED, "");
          return;
        }
      }
    };
    const over = (event: Event): void => {
      const target = event.target as Element;
      const row = target.closest(".thread [data-key]")?.getAttribute("data-key") ?? undefined;
      if (row !== undefined) {
        if (row !== mark.get()?.row) {
          mark.set(markOfRow(latest.current, row));
        }
      } else if (target.closest(".thread") !== null) {
        mark.set(undefined);
      }
    };
    const stop = mark.subscribe(show);
    document.addEventListener("mouseover", over);
    return () => {
      stop();
      document.removeEventListener("mouseover", over);
      document.querySelector(`[${POINTED}]`)?.removeAttribute(POINTED);
    };
  }, [mark]);
}
