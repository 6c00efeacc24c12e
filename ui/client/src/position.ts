/**
 * A place in a context's log: a number, or `seq.k` after an internal event. `0` is before the
 * first. This is how it goes over the wire.
 */
export type Position = number | string;

/** A position in its two parts; `k` is 0 but after internal events. */
export interface Place {
  readonly seq: number;
  readonly k: number;
}

const PATTERN = /^(\d{1,15})(?:\.(\d{1,9}))?$/;

/** The place before the first event. */
export const START: Place = { seq: 0, k: 0 };

/** Reads a position, or says that it is none. */
export function parsePosition(position: Position): Place {
  const parts = PATTERN.exec(String(position));
  if (parts === null) {
    throw new TypeError(`not a position: ${position}`);
  }
  return { seq: Number(parts[1]), k: Number(parts[2] ?? 0) };
}

/** The position as it goes over the wire. */
export function formatPosition(place: Place): Position {
  return place.k === 0 ? place.seq : `${place.seq}.${place.k}`;
}

/** Where an event stands. */
export function placeOf(event: { seq: number; k?: number }): Place {
  return { seq: event.seq, k: event.k ?? 0 };
}

/** True if `a` comes after `b`. */
export function isAfter(a: Place, b: Place): boolean {
  return a.seq > b.seq || (a.seq === b.seq && a.k > b.k);
}
