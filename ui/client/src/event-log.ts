import type { ParleyApi } from "./api.js";
import { SYSTEM_CLOCK } from "./clock.js";
import type { ParleyEvent } from "./events.js";
import type { Position } from "./position.js";
import { Store } from "./store.js";

/** Selects the listed events; by default all public ones. */
export interface LogFilter {
  readonly kinds: readonly string[];
  readonly taskId: string | undefined;
  /** Searched in the event's JSON, ignoring case. */
  readonly text: string;
  readonly internal: boolean;
}

export interface LogState {
  readonly filter: LogFilter;
  /** The number of rows. */
  readonly count: number;
  readonly loading: boolean;
  /** The position up to which events were scanned. */
  readonly scannedTo: number;
  /** True if the filter matches more events than are listed. */
  readonly cut: boolean;
  readonly error: Error | undefined;
}

export const EVERYTHING: LogFilter = { kinds: [], taskId: undefined, text: "", internal: false };
/** The maximum number of matching events that are listed. */
export const MATCHES_MAX = 20_000;

const PAGE = 200;
const PAGES_MAX = 40;
const SCAN = 1_000;
const GATHER_MS = 100;

/**
 * The events of a context as a list of any length, of which only the visible part is loaded.
 *
 * Public events are numbered without gaps, so the row index follows from the number, and pages can
 * be loaded and dropped. Events that match a filter are searched from the start and kept. Call
 * `reach` with the end of the log and `want` with the visible rows.
 */
export class EventLog extends Store<LogState> {
  private readonly closing = new AbortController();
  private pages = new Map<number, readonly ParleyEvent[]>();
  private readonly fetching = new Set<number>();
  private matches: ParleyEvent[] = [];
  private position: Position = 0;
  private scanning = false;
  private round = 0;
  private head = 0;
  private sight = { first: 0, last: 0 };

  constructor(
    private readonly api: ParleyApi,
    private readonly contextId: string,
  ) {
    super({
      filter: EVERYTHING,
      count: 0,
      loading: false,
      scannedTo: 0,
      cut: false,
      error: undefined,
    });
  }

  close(): void {
    this.closing.abort();
  }

  /** Changes the filter. */
  choose(filter: LogFilter): void {
    this.round++;
    this.matches = [];
    this.position = 0;
    this.scanning = false;
    this.change({ filter, cut: false, scannedTo: 0, error: undefined });
    this.update();
  }

  /** Sets the last event to list. */
  reach(head: number): void {
    if (head !== this.head) {
      this.head = head;
      this.update();
    }
  }

  /** Sets the visible rows, from `first` up to but excluding `last`. */
  want(first: number, last: number): void {
    this.sight = { first, last };
    this.load();
  }

  /** The event of a row, if it is loaded. */
  row(index: number): ParleyEvent | undefined {
    return this.dense()
      ? this.pages.get(Math.floor(index / PAGE))?.[index % PAGE]
      : this.matches[index];
  }

  /** The row of an event, or the last row before it. */
  indexOf(seq: number, k = 0): number {
    return this.dense() ? Math.min(seq, this.head) - 1 : upTo(this.matches, seq, k) - 1;
  }

  /** True if a row shows the event: internal ones are listed only if the filter selects them. */
  lists(seq: number, k: number): boolean {
    if (this.dense()) {
      return k === 0 && seq <= this.head;
    }
    const event = this.row(this.indexOf(seq, k));
    return event?.seq === seq && (event.k ?? 0) === k;
  }

  private dense(): boolean {
    const { kinds, taskId, text, internal } = this.get().filter;
    return kinds.length === 0 && taskId === undefined && text.trim() === "" && !internal;
  }

  private update(): void {
    this.change({ count: this.dense() ? this.head : upTo(this.matches, this.head) });
    this.load();
  }

  private load(): void {
    if (!this.dense()) {
      void this.scan();
      return;
    }
    const { first, last } = this.sight;
    const end = Math.min(last, this.head);
    for (let page = Math.floor(first / PAGE); page * PAGE < end; page++) {
      const known = this.pages.get(page)?.length ?? 0;
      if (known < Math.min(PAGE, this.head - page * PAGE) && !this.fetching.has(page)) {
        void this.fetch(page, known);
      }
    }
  }

  private async fetch(page: number, known: number): Promise<void> {
    this.fetching.add(page);
    this.change({ loading: true });
    try {
      if (known > 0) {
        // The last page grows continuously; the delay batches its events.
        await SYSTEM_CLOCK.sleep(GATHER_MS, this.closing.signal);
      }
      const { events } = await this.api.events(this.contextId, {
        after: page * PAGE + known,
        limit: PAGE - known,
        signal: this.closing.signal,
      });
      const before = this.pages.get(page) ?? [];
      if (before.length !== known) {
        // The page was dropped meanwhile, so the response does not continue it.
        this.fetching.delete(page);
        this.load();
        this.change({ loading: this.fetching.size > 0 });
        return;
      }
      this.pages.delete(page);
      this.pages.set(page, [...before, ...events]);
      this.forget();
      this.fetching.delete(page);
      this.change({ loading: this.fetching.size > 0, error: undefined });
      // Also load events that were added meanwhile, unless the server has no more.
      if (events.length > 0) {
        this.load();
      }
    } catch (failure) {
      this.fetching.delete(page);
      this.change({ loading: this.fetching.size > 0, error: asError(failure) });
    }
  }

  /** Drops the oldest pages that are not visible. */
  private forget(): void {
    const { first, last } = this.sight;
    for (const page of this.pages.keys()) {
      if (this.pages.size <= PAGES_MAX) {
        return;
      }
      if ((page + 1) * PAGE <= first || page * PAGE >= last) {
        this.pages.delete(page);
      }
    }
  }

  private async scan(): Promise<void> {
    if (this.scanning || this.get().cut || this.get().scannedTo >= this.head) {
      return;
    }
    this.scanning = true;
    const round = this.round;
    const { kinds, taskId, internal } = this.get().filter;
    const filter = {
      ...(kinds.length === 0 ? {} : { kinds }),
      ...(taskId === undefined ? {} : { taskId }),
      ...(internal ? { internal } : {}),
    };
    this.change({ loading: true });
    let advanced = false;
    try {
      for (let more = true; more && this.matches.length < MATCHES_MAX; ) {
        const page = await this.api.events(this.contextId, {
          after: this.position,
          limit: SCAN,
          filter,
          signal: this.closing.signal,
        });
        if (round !== this.round) {
          return;
        }
        this.take(page.events);
        more = page.hasMore;
        advanced = String(page.position) !== String(this.position);
        this.position = page.position;
        this.change({
          scannedTo: Number.parseInt(String(page.position), 10),
          cut: this.matches.length >= MATCHES_MAX,
          count: upTo(this.matches, this.head),
        });
      }
      this.scanning = false;
      // The log may have grown meanwhile; stop if the server has no more events.
      const { cut, scannedTo } = this.get();
      const grown = advanced && !cut && scannedTo < this.head;
      this.change({ loading: grown, error: undefined });
      if (grown) {
        this.load();
      }
    } catch (failure) {
      if (round === this.round) {
        this.scanning = false;
        this.change({ loading: false, error: asError(failure) });
      }
    }
  }

  private take(events: readonly ParleyEvent[]): void {
    const words = this.get().filter.text.trim().toLowerCase();
    for (const event of events) {
      const fits = words === "" || JSON.stringify(event).toLowerCase().includes(words);
      if (fits && this.matches.length < MATCHES_MAX) {
        this.matches.push(event);
      }
    }
  }

  private change(change: Partial<LogState>): void {
    if (!this.closing.signal.aborted) {
      this.set({ ...this.get(), ...change });
    }
  }
}

/** The number of events up to and including a position. */
function upTo(events: readonly ParleyEvent[], seq: number, k = Infinity): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const event = events[middle];
    const at = event?.seq ?? 0;
    if (at < seq || (at === seq && (event?.k ?? 0) <= k)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function asError(failure: unknown): Error {
  return failure instanceof Error ? failure : new Error(String(failure));
}
