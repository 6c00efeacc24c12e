import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

/** Which rows of a long list are in the page: from, and up to but without. */
export interface Shown {
  readonly first: number;
  readonly last: number;
}

/** Rows beyond the edge that are there before they come into sight. */
const SPARE = 8;

/** The rows of equal height that are in sight in a box that scrolls, and a few more. */
export function useShown(
  box: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): Shown {
  const [shown, setShown] = useState<Shown>({ first: 0, last: 0 });
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

/** Brings a row into sight, if it is not. `above` is covered by something that stays. */
export function bringIntoSight(
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
