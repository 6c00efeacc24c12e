/**
 * A position in a context's log as sent over the wire: a number, or `seq.k` after an internal
 * event. `0` is before the first event.
 */
export type Position = number | string;

/** A position in two parts; `k` is 0 except after internal events. */
export interface ParsedPosition {
  readonly seq: number;
  readonly k: number;
}

const PATTERN = /^(\d{1,15})(?:\.(\d{1,9}))?$/;

/** The position before the first event. */
export const START: ParsedPosition = { seq: 0, k: 0 };

/** Parses a position; throws if it is not valid. */
export function parsePosition(position: Position): ParsedPosition {
  const parts = PATTERN.exec(String(position));
  if (parts === null) {
    throw new TypeError(`not a position: ${position}`);
  }
  return { seq: Number(parts[1]), k: Number(parts[2] ?? 0) };
}

/** Formats a position for the wire. */
export function formatPosition(place: ParsedPosition): Position {
  return place.k === 0 ? place.seq : `${place.seq}.${place.k}`;
}

/** The position of an event. */
export function positionOf(event: { seq: number; k?: number }): ParsedPosition {
  return { seq: event.seq, k: event.k ?? 0 };
}

/** True if `a` is after `b`. */
export function isAfter(a: ParsedPosition, b: ParsedPosition): boolean {
  return a.seq > b.seq || (a.seq === b.seq && a.k > b.k);
}
