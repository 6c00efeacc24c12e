import type { ContextState, Rewind } from "./state.js";

/** A range of sequence numbers, inclusive. */
export interface SeqRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The ranges that are active when `seq` is the newest event, newest first.
 *
 * The search walks back: at a rewind it jumps to the rewind's target, which may lie in a range that
 * an earlier rewind removed. The ranges between jumps are active; the skipped ones are not.
 */
export function activeRanges(rewinds: readonly Rewind[], seq: number): SeqRange[] {
  const ranges: SeqRange[] = [];
  for (let last = seq; last > 0; ) {
    const newest = last;
    const rewind = rewinds.filter((one) => one.seq <= newest).at(-1);
    ranges.push({ first: rewind?.seq ?? 0, last });
    last = rewind?.toSeq ?? 0;
  }
  return ranges;
}

/** A predicate for whether an event is active when `seq` is the newest. */
export function activeAt(rewinds: readonly Rewind[], seq: number): (of: number) => boolean {
  if (rewinds.length === 0) {
    return (of) => of <= seq;
  }
  const ranges = activeRanges(rewinds, seq);
  return (of) => ranges.some((range) => range.first <= of && of <= range.last);
}

/** Applies a rewind. */
export function rewind(state: ContextState, seq: number, wanted: number): ContextState {
  const toSeq = Math.min(Math.max(wanted, 0), seq - 1);
  const left = (event: { seq: number }): boolean => event.seq <= toSeq;
  return {
    ...state,
    rewinds: [...state.rewinds, { seq, toSeq }],
    stale: state.stale || toSeq < state.base,
    pendingInputs: state.pendingInputs.filter(left),
    pendingAuths: state.pendingAuths.filter(left),
  };
}
