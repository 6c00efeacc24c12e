import type { ParleyApi } from "./api.js";
import { BACKOFF, type Backoff, type Clock, delay, SYSTEM_CLOCK } from "./clock.js";
import { ParleyError } from "./errors.js";
import type { ParleyEvent } from "./events.js";
import { parsePosition, type Position } from "./position.js";
import { corrected, reduceAll } from "./reduce.js";
import { fromSnapshot } from "./snapshot.js";
import { type ContextState, emptyContext } from "./state.js";
import { Store } from "./store.js";

/** A context as it was. */
export interface PastState {
  /** The event after which it is looked at; now, if it is missing. */
  readonly at: number | undefined;
  /** The event that was asked for, if the log ended before it; `at` is the last one then. */
  readonly beyond: number | undefined;
  /** How it was there, or at the place before while that is being loaded. */
  readonly context: ContextState | undefined;
  readonly loading: boolean;
  /** Why it cannot be had; failures that pass are tried again until they have. */
  readonly error: Error | undefined;
}

export interface PastOptions {
  readonly backoff?: Backoff;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** Events that were read in one go, and what there was before them. */
interface Page {
  readonly before: ContextState;
  readonly events: readonly ParleyEvent[];
  readonly position: Position;
  readonly hasMore: boolean;
}

/** Events in full that a view of the past has; of what was before them a snapshot tells. */
const RECENT = 4_000;
const KEPT_MAX = 8_000;
const REWOUND_MAX = 20_000;
const PAGE = 1_000;
const CORRECTIONS = ["message-updated", "message-deleted"];
const NOW: PastState = {
  at: undefined,
  beyond: undefined,
  context: undefined,
  loading: false,
  error: undefined,
};

/**
 * How a context was after any of its events: what somebody saw who watched it then, but messages
 * that people edited or deleted since read as they do now.
 *
 * Going to and fro near a place costs nothing but a fold: what was read is kept, within a limit.
 */
export class Past extends Store<PastState> {
  private readonly closing = new AbortController();
  private pages: Page[] = [];
  /** Corrections that follow the pages, once they were read. */
  private later: readonly ParleyEvent[] | undefined;
  private going = false;

  constructor(
    private readonly api: ParleyApi,
    private readonly contextId: string,
    private readonly options: PastOptions = {},
  ) {
    super(NOW);
  }

  close(): void {
    this.closing.abort();
  }

  /** Goes to just after an event, or back to now. What could not be had is tried again. */
  go(at: number | undefined): void {
    if (at === this.get().at && this.get().error === undefined) {
      return;
    }
    if (at === undefined) {
      // Whoever comes back may find more corrected.
      this.later = undefined;
      this.set(NOW);
      return;
    }
    this.set({ ...this.get(), at, beyond: undefined, loading: true, error: undefined });
    void this.run();
  }

  private async run(): Promise<void> {
    if (this.going) {
      return;
    }
    this.going = true;
    let failures = 0;
    // Whoever drags goes on while we load; only where they are now counts.
    for (let at = this.get().at; at !== undefined && this.get().loading; at = this.get().at) {
      try {
        const context = await this.stateAt(at);
        failures = 0;
        if (this.get().at === at) {
          const ends = context.seq > 0 && context.seq < at;
          const place = ends ? { at: context.seq, beyond: at } : { at, beyond: undefined };
          this.set({ ...place, context, loading: false, error: undefined });
        }
      } catch (failure) {
        if (this.closing.signal.aborted) {
          break;
        }
        if (failure instanceof ParleyError && failure.passing) {
          await this.rest(++failures, failure.retryAfterMs);
        } else if (this.get().at === at) {
          const error = failure instanceof Error ? failure : new Error(String(failure));
          this.set({ ...this.get(), loading: false, error });
        }
      }
    }
    this.going = false;
  }

  private rest(failures: number, askedMs: number | undefined): Promise<void> {
    const { backoff = BACKOFF, clock = SYSTEM_CLOCK, random = Math.random } = this.options;
    return clock.sleep(delay(backoff, failures, askedMs, random), this.closing.signal);
  }

  private async stateAt(wanted: number): Promise<ContextState> {
    const first = this.pages[0];
    const base = first?.before.seq ?? 0;
    let at = wanted;
    if (first === undefined || base > at || at - base > KEPT_MAX) {
      // Of a place that is not there yet nobody has a snapshot.
      at = at > RECENT ? Math.min(at, await this.end()) : at;
      await this.begin(at > RECENT ? at - RECENT : 0);
    }
    const context = await this.fold(at);
    const to = Math.min(...context.rewinds.map((one) => one.toSeq));
    if (!context.stale || at - to > REWOUND_MAX) {
      return context;
    }
    await this.begin(Math.max(0, to));
    return this.fold(at);
  }

  private async end(): Promise<number> {
    const { position } = await this.api.context(this.contextId, { signal: this.closing.signal });
    return parsePosition(position).seq;
  }

  private async begin(base: number): Promise<void> {
    const signal = this.closing.signal;
    const before =
      base === 0
        ? emptyContext(this.contextId)
        : fromSnapshot(await this.api.snapshot(this.contextId, { at: base, signal }));
    this.pages = [{ before, events: [], position: before.seq, hasMore: true }];
    this.later = undefined;
  }

  private async fold(at: number): Promise<ContextState> {
    for (let last = this.pages.at(-1); last !== undefined && reach(last) <= at; ) {
      const { events, position, hasMore } = await this.api.events(this.contextId, {
        after: last.position,
        limit: PAGE,
        filter: { internal: true },
        signal: this.closing.signal,
      });
      if (events.length === 0) {
        break;
      }
      last = { before: reduceAll(last.before, last.events), events, position, hasMore };
      this.pages.push(last);
      this.later = undefined;
    }
    const later = await this.corrections();
    const page = this.pages.filter((one) => one.before.seq <= at).at(-1);
    if (page === undefined) {
      return emptyContext(this.contextId);
    }
    const there = reduceAll(
      page.before,
      page.events.filter((event) => event.seq <= at),
    );
    const known = this.pages.flatMap((one) => one.events);
    return corrected(there, [...known, ...later]);
  }

  /** What people corrected after all that was read. */
  private async corrections(): Promise<readonly ParleyEvent[]> {
    const last = this.pages.at(-1);
    if (last === undefined || !last.hasMore) {
      return [];
    }
    if (this.later === undefined) {
      const found: ParleyEvent[] = [];
      let after = last.position;
      for (let more = true; more; ) {
        const page = await this.api.events(this.contextId, {
          after,
          limit: PAGE,
          filter: { kinds: CORRECTIONS },
          signal: this.closing.signal,
        });
        found.push(...page.events);
        more = page.hasMore && page.position !== after;
        after = page.position;
      }
      this.later = found;
    }
    return this.later;
  }
}

function reach(page: Page): number {
  return page.events.at(-1)?.seq ?? page.before.seq;
}
