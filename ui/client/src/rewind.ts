import type { ContextState, Rewind } from "./state.js";

/** Numbers that count, from the first to the last. */
export interface Stretch {
  readonly first: number;
  readonly last: number;
}

/**
 * What counts when `seq` is the newest event, newest first.
 *
 * It is found by walking back: at a rewind the walk jumps to the place that was gone back to, which
 * may itself lie in a stretch that an earlier rewind had left behind. Every stretch between two
 * jumps counts, and everything jumped over does not.
 */
export function counted(rewinds: readonly Rewind[], seq: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (let last = seq; last > 0;) {
    const newest = last;
    const rewind = rewinds.filter((one) => one.seq <= newest).at(-1);
    stretches.push({ first: rewind?.seq ?? 0, last });
    last = rewind?.toSeq ?? 0;
  }
  return stretches;
}

/** A test for whether an event counts when `seq` is the newest. */
export function counter(rewinds: readonly Rewind[], seq: number): (of: number) => boolean {
  if (rewinds.length === 0) {
    return (of) => of <= seq;
  }
  const stretches = counted(rewinds, seq);
  return (of) => stretches.some((stretch) => stretch.first <= of && of <= stretch.last);
}

/** Takes in that the context went back. */
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
