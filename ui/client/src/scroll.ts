/** The scroll position of an element. */
export interface ScrollPosition {
  readonly scrollTop: number;
  readonly clientHeight: number;
  readonly scrollHeight: number;
}

/** Distance that counts as the end, because browsers round. */
const NEAR = 24;

/**
 * Decides whether an element stays scrolled to its end: from the start until the user scrolls up,
 * and again after the user has scrolled down to the end. Being at the end is not enough, because a
 * script may have scrolled there.
 */
export function follows(before: boolean, from: ScrollPosition, to: ScrollPosition): boolean {
  const atEnd = to.scrollHeight - to.clientHeight - to.scrollTop <= NEAR;
  const up = to.scrollTop < from.scrollTop && to.scrollHeight >= from.scrollHeight;
  const down = to.scrollTop > from.scrollTop;
  return before ? atEnd || !up : atEnd && down;
}
