/** Where a box that scrolls stands. */
export interface ScrollPlace {
  readonly scrollTop: number;
  readonly clientHeight: number;
  readonly scrollHeight: number;
}

/** So near to the end counts as the end: browsers round. */
const NEAR = 24;

/**
 * Whether a box is to follow what is added at its end: from the start, until a person scrolls up,
 * and again when they have scrolled down to the end. Being at the end is not enough: what was put
 * there by something else, such as a link that is about to lead away, is no wish to stay.
 */
export function follows(before: boolean, from: ScrollPlace, to: ScrollPlace): boolean {
  const atEnd = to.scrollHeight - to.clientHeight - to.scrollTop <= NEAR;
  const up = to.scrollTop < from.scrollTop && to.scrollHeight >= from.scrollHeight;
  const down = to.scrollTop > from.scrollTop;
  return before ? atEnd || !up : atEnd && down;
}
