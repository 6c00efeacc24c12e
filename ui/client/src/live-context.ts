import type { EventFilter, ParleyApi } from "./api.js";
import { BACKOFF, delay, SYSTEM_CLOCK } from "./clock.js";
import { ParleyError } from "./errors.js";
import { formatPosition, parsePosition } from "./position.js";
import { reduce } from "./reduce.js";
import { fromSnapshot } from "./snapshot.js";
import { type ContextState, emptyContext } from "./state.js";
import { Store } from "./store.js";
import {
  type ConnectionState,
  type EventStream,
  streamContext,
  StreamGap,
  type StreamOptions,
} from "./stream.js";

/** A context as it is now, and how well it is known. */
export interface LiveState {
  /** What is known; nothing before it is loaded. */
  readonly context: ContextState | undefined;
  readonly loading: boolean;
  readonly connection: ConnectionState | undefined;
  /** Why it was given up. */
  readonly error: Error | undefined;
}

export interface LiveOptions extends Omit<StreamOptions, "after" | "onState" | "filter"> {
  /**
   * `snapshot` (default) begins with the latest messages, `start` reads all there ever was, and
   * `recent` knows the latest events in full and a snapshot of what was before them.
   */
  readonly from?: "snapshot" | "start" | "recent";
  /** How many events are recent. */
  readonly recent?: number;
  /** How many messages the snapshot has. */
  readonly messages?: number;
  /** Filters that leave the context whole: which thoughts, and whether internal events. */
  readonly filter?: Pick<EventFilter, "internal" | "verbosity" | "thoughtTypes" | "minConfidence">;
}

/** Where to begin: what is known there, and up to where the past goes that is still to be read. */
interface Beginning {
  readonly context: ContextState;
  readonly pastEnds: number;
}

const RECENT = 4_000;

/**
 * A context that keeps itself up to date: a snapshot, the events after it, and a new snapshot where
 * those do not suffice. Close it when nobody looks any more.
 */
export class LiveContext extends Store<LiveState> {
  private readonly closing = new AbortController();
  /** Ends the stream that is being read, to begin another. */
  private round = new AbortController();
  private recent: number;
  /** What a rewind went back to: recent begins no later. */
  private keep = Infinity;
  private again = true;
  private stream: EventStream | undefined;
  private paused = false;

  constructor(
    private readonly api: ParleyApi,
    readonly contextId: string,
    private readonly options: LiveOptions = {},
  ) {
    super({ context: undefined, loading: true, connection: undefined, error: undefined });
    this.recent = options.recent ?? RECENT;
    options.signal?.addEventListener("abort", () => this.close(), { once: true });
    void this.run();
  }

  close(): void {
    this.closing.abort();
    this.round.abort();
  }

  /** Reads as many more of the earlier events, and shows what is known meanwhile. */
  earlier(): void {
    const { context } = this.get();
    if (context !== undefined && context.base > 0) {
      this.recent = context.seq - context.base + (this.options.recent ?? RECENT);
      this.again = true;
      this.change({ loading: true });
      this.round.abort();
    }
  }

  /** Gives the connection back until `resume`: for pages that nobody looks at. */
  pause(): void {
    this.paused = true;
    this.stream?.pause();
  }

  /** Goes on after `pause`. */
  resume(): void {
    this.paused = false;
    this.stream?.resume();
  }

  /** Makes a new connection at once, if the one there is may be dead, or is being waited for. */
  reconnect(): void {
    this.stream?.reconnect();
  }

  private async run(): Promise<void> {
    try {
      let from: Beginning = { context: emptyContext(this.contextId), pastEnds: 0 };
      while (!this.closing.signal.aborted) {
        if (this.again) {
          this.again = false;
          from = await this.load();
          if (from.context.seq >= from.pastEnds) {
            this.change({ context: from.context, loading: false });
          }
        }
        from = await this.follow(from);
        if (this.again) {
          this.change({ loading: true });
        }
      }
    } catch (failure) {
      if (!this.closing.signal.aborted) {
        const error = failure instanceof Error ? failure : new Error(String(failure));
        this.change({ error, loading: false });
      }
    }
  }

  /** Takes in events until only a new snapshot, or a new stream, can help. */
  private async follow({ context: from, pastEnds }: Beginning): Promise<Beginning> {
    let context = from;
    const round = new AbortController();
    this.round = round;
    if (this.closing.signal.aborted) {
      return { context, pastEnds };
    }
    const stream = streamContext(this.api, this.contextId, {
      merge: true,
      ...this.options,
      after: formatPosition(from),
      signal: round.signal,
      onState: (connection) => {
        // What ends for the next stream to begin is no end.
        if (!round.signal.aborted) {
          this.change({ connection });
        }
      },
    });
    this.stream = stream;
    if (this.paused) {
      stream.pause();
    }
    try {
      for await (const event of stream) {
        if (round.signal.aborted) {
          break;
        }
        context = reduce(context, event);
        if (context.seq >= pastEnds) {
          this.change({ context, loading: false });
        }
        if (context.stale) {
          this.keep = Math.min(this.keep, event.kind === "context-rewound" ? event.toSeq : 0);
          this.again = true;
          break;
        }
      }
    } catch (failure) {
      if (!(failure instanceof StreamGap) || failure.reason === "deleted") {
        throw failure;
      }
      this.again = true;
    }
    return { context, pastEnds };
  }

  private async load(): Promise<Beginning> {
    const { from } = this.options;
    const reload = this.get().context !== undefined;
    if (from === "start" && !reload) {
      return { context: emptyContext(this.contextId), pastEnds: 0 };
    }
    const clock = this.options.clock ?? SYSTEM_CLOCK;
    for (let failures = 1; ; failures++) {
      try {
        return await (from === "recent" ? this.loadRecent() : this.loadLatest());
      } catch (failure) {
        const passing = failure instanceof ParleyError && failure.passing;
        if (!passing || this.closing.signal.aborted) {
          throw failure;
        }
        const random = this.options.random ?? Math.random;
        const wait = delay(this.options.backoff ?? BACKOFF, failures, failure.retryAfterMs, random);
        await clock.sleep(wait, this.closing.signal);
      }
    }
  }

  private async loadLatest(at?: number): Promise<Beginning> {
    const { messages } = this.options;
    const snapshot = await this.api.snapshot(this.contextId, {
      signal: this.closing.signal,
      ...(messages === undefined ? {} : { messages }),
      ...(at === undefined ? {} : { at }),
    });
    return { context: fromSnapshot(snapshot), pastEnds: 0 };
  }

  private async loadRecent(): Promise<Beginning> {
    const { position } = await this.api.context(this.contextId, { signal: this.closing.signal });
    const pastEnds = parsePosition(position).seq;
    const base = Math.max(0, Math.min(pastEnds - this.recent, this.keep));
    if (base === 0) {
      return { context: emptyContext(this.contextId), pastEnds };
    }
    if (this.get().context === undefined) {
      // The latest snapshot is there at once, one of the past is not: something to read meanwhile.
      this.change({ context: (await this.loadLatest()).context });
    }
    return { ...(await this.loadLatest(base)), pastEnds };
  }

  private change(change: Partial<LiveState>): void {
    // Nobody looks at one that is closed.
    if (!this.closing.signal.aborted) {
      this.set({ ...this.get(), ...change });
    }
  }
}
