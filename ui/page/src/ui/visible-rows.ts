import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

/** The rendered rows of a long list, from `first` up to but excluding `last`. */
export interface VisibleRows {
  readonly first: number;
  readonly last: number;
}

/** Rows that are rendered beyond the visible area. */
const SPARE = 8;

/** The visible rows, of equal height, of a scrolling element, plus a few more. */
export function useVisibleRows(
  box: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): VisibleRows {
  const [shown, setShown] = useState<VisibleRows>({ first: 0, last: 0 });
  const look = (): void => {
    const element = box.current;
    if (element !== null) {
      const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - SPARE);
      const height = Math.ceil(element.clientHeight / rowHeight);
      const last = Math.min(count, first + height + 2 * SPARE);
      setShown((old) => (old.first === first && old.last === last ? old : { first, last }));
    }
  };
  useLayoutEffect(look, [count, rowHeight]);
  useEffect(() => {
    const element = box.current;
    if (element === null) {
      return undefined;
    }
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [box, count, rowHeight]);
  return { first: Math.min(shown.first, count), last: Math.min(shown.last, count) };
}

/** Scrolls to a row if it is not visible. `above` is the height of a fixed element. */
export function scrollToRow(
  element: HTMLElement | null,
  index: number,
  rowHeight: number,
  above = 0,
): void {
  if (element === null || index < 0) {
    return;
  }
  const top = index * rowHeight;
  const { scrollTop, clientHeight } = element;
  if (top < scrollTop || top + rowHeight > scrollTop + clientHeight - above) {
    element.scrollTop = Math.max(0, top - clientHeight / 3);
  }
}
