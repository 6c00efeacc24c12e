import type { ParleyApi } from "./api.js";
import { BACKOFF, type Backoff, type Clock, delay, SYSTEM_CLOCK } from "./clock.js";
import { ParleyError } from "./errors.js";
import type { ParleyEvent } from "./events.js";
import { parsePosition, type Position } from "./position.js";
import { corrected, reduceAll } from "./reduce.js";
import { fromSnapshot } from "./snapshot.js";
import { type ContextState, emptyContext } from "./state.js";
import { Store } from "./store.js";

/** The state of a context in the past. */
export interface PastState {
  /** The event after which the context is shown; undefined for now. */
  readonly at: number | undefined;
  /** The requested event, if the log ends before it; `at` is then the last event. */
  readonly beyond: number | undefined;
  /** The state at that event, or at the previous one while it is loading. */
  readonly context: ContextState | undefined;
  readonly loading: boolean;
  /** The error, if it cannot be loaded. Temporary failures are retried. */
  readonly error: Error | undefined;
}

export interface PastOptions {
  readonly backoff?: Backoff;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** A page of events and the state before them. */
interface Page {
  readonly before: ContextState;
  readonly events: readonly ParleyEvent[];
  readonly position: Position;
  readonly hasMore: boolean;
}

/** The number of events that are read in full; a snapshot covers the time before them. */
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
 * The state of a context after any of its events, as it was shown then, but with later edits and
 * deletions of messages.
 *
 * Loaded events are kept up to a limit, so nearby moves need no request.
 */
export class Past extends Store<PastState> {
  private readonly closing = new AbortController();
  private pages: Page[] = [];
  /** Corrections after the loaded pages, once loaded. */
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

  /** Goes to just after an event, or to now. Retries after an error. */
  go(at: number | undefined): void {
    if (at === this.get().at && this.get().error === undefined) {
      return;
    }
    if (at === undefined) {
      // There may be new corrections after the return.
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
    // The slider may move while loading; only its latest position counts.
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
        if (failure instanceof ParleyError && failure.retryable) {
          await this.waitToRetry(++failures, failure.retryAfterMs);
        } else if (this.get().at === at) {
          const error = failure instanceof Error ? failure : new Error(String(failure));
          this.set({ ...this.get(), loading: false, error });
        }
      }
    }
    this.going = false;
  }

  private waitToRetry(failures: number, askedMs: number | undefined): Promise<void> {
    const { backoff = BACKOFF, clock = SYSTEM_CLOCK, random = Math.random } = this.options;
    return clock.sleep(delay(backoff, failures, askedMs, random), this.closing.signal);
  }

  private async stateAt(wanted: number): Promise<ContextState> {
    const first = this.pages[0];
    const base = first?.before.seq ?? 0;
    let at = wanted;
    if (first === undefined || base > at || at - base > KEPT_MAX) {
      // There is no snapshot after the end of the log.
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

  /** Corrections after the loaded events. */
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
