import type { EventFilter, ParleyApi } from "./api.js";
import { BACKOFF, delay, SYSTEM_CLOCK } from "./clock.js";
import { type ConnectionState, INITIAL_CONNECTION } from "./connection.js";
import { ParleyError } from "./errors.js";
import { formatPosition, parsePosition } from "./position.js";
import { reduce } from "./reduce.js";
import { fromSnapshot } from "./snapshot.js";
import { type ContextState, emptyContext } from "./state.js";
import { Store } from "./store.js";
import { type EventStream, streamContext, StreamGap, type StreamOptions } from "./stream.js";

/** The current state of a context and of its connection. */
export interface LiveState {
  /** The context; undefined until it is loaded. */
  readonly context: ContextState | undefined;
  readonly loading: boolean;
  readonly connection: ConnectionState | undefined;
  /** The error that ended the updates. */
  readonly error: Error | undefined;
}

export interface LiveOptions extends Omit<StreamOptions, "after" | "onState" | "filter"> {
  /**
   * `snapshot` (default) starts with the latest messages, `start` reads all events, and `recent`
   * reads the latest events and a snapshot of the state before them.
   */
  readonly from?: "snapshot" | "start" | "recent";
  /**
   * True if the context was just created: it is empty at once, without a request, until its events
   * arrive.
   */
  readonly created?: boolean;
  /** The number of recent events. */
  readonly recent?: number;
  /** The number of messages in the snapshot. */
  readonly messages?: number;
  /** Filters that do not affect the context's state. */
  readonly filter?: Pick<EventFilter, "internal" | "verbosity" | "thoughtTypes" | "minConfidence">;
}

/**
 * Where the stream starts: the state there, and the end of the past events that are still to be
 * read.
 */
interface StartingPoint {
  readonly context: ContextState;
  readonly pastEnds: number;
}

const RECENT = 4_000;
/** After a rewind to far back, up to this multiple of the recent events is read. */
const REWOUND_MAX = 5;
/** Up to this multiple of the recent events is kept before old events are dropped. */
const KEPT_MAX = 4;
/** The context does not exist, was deleted, or belongs to another user. */
const GONE = [401, 403, 404, 410];

/**
 * A context that is kept up to date: a snapshot, the events after it, and a new snapshot where
 * those are not enough. Close it when it is no longer needed.
 */
export class LiveContext extends Store<LiveState> {
  private readonly closing = new AbortController();
  /** Ends the current stream to start another. */
  private round = new AbortController();
  private recent: number;
  /** The target and the position of the last rewind: recent events begin at one of them. */
  private keep = Infinity;
  private rewoundAt = 0;
  /** True if the caller asked for earlier events. */
  private earlierRequested = false;
  private reloadNeeded: boolean;
  /** True if earlier events cannot be loaded. */
  private earlierUnavailable = false;
  /** True if old events may be dropped. */
  private forgetful = false;
  /** The position at which old events were last dropped. */
  private trimmedAt = 0;
  /** True while old events are dropped; the state does not change visibly. */
  private trimming = false;
  /** Ends the delay before the next attempt to load. */
  private delayAbort = new AbortController();
  private stream: EventStream | undefined;
  private paused = false;

  constructor(
    private readonly api: ParleyApi,
    readonly contextId: string,
    private readonly options: LiveOptions = {},
  ) {
    const created = options.created === true;
    const context = created ? emptyContext(contextId) : undefined;
    super({ context, loading: !created, connection: undefined, error: undefined });
    this.reloadNeeded = !created;
    this.recent = options.recent ?? RECENT;
    options.signal?.addEventListener("abort", () => this.close(), { once: true });
    void this.run();
  }

  close(): void {
    this.closing.abort();
    this.round.abort();
    this.delayAbort.abort();
  }

  /**
   * Loads earlier events: one more batch, or all from `seq` on. The current state stays visible
   * meanwhile.
   */
  earlier(seq?: number): void {
    const { context } = this.get();
    if (context !== undefined && context.base > 0 && !this.earlierUnavailable) {
      const more = this.options.recent ?? RECENT;
      const wanted = Math.min(context.base, seq ?? Infinity);
      this.recent = context.seq - wanted + more;
      this.earlierRequested = true;
      this.reloadNeeded = true;
      this.change({ loading: true });
      this.round.abort();
    }
  }

  /**
   * Sets whether old events may be dropped from time to time, so that memory stays bounded on
   * long-lived pages. `earlier` loads them again.
   */
  forgets(forgetful: boolean): void {
    this.forgetful = forgetful;
  }

  /** Closes the connection until `resume`, for hidden pages. */
  pause(): void {
    this.paused = true;
    this.stream?.pause();
  }

  /** Reconnects after `pause`. */
  resume(): void {
    this.paused = false;
    this.stream?.resume();
  }

  /** Reconnects immediately, for example if the connection may be dead. */
  reconnect(): void {
    this.delayAbort.abort();
    this.stream?.reconnect();
  }

  private async run(): Promise<void> {
    try {
      let from: StartingPoint = { context: emptyContext(this.contextId), pastEnds: 0 };
      while (!this.closing.signal.aborted) {
        if (this.reloadNeeded) {
          this.reloadNeeded = false;
          from = await this.load();
          if (from.context.seq >= from.pastEnds) {
            this.change({ context: from.context, loading: false });
          }
        }
        from = await this.follow(from);
        if (this.reloadNeeded && !this.trimming) {
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

  /** Applies events until a new snapshot or stream is needed. */
  private async follow({ context: from, pastEnds }: StartingPoint): Promise<StartingPoint> {
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
        // The end of a replaced stream is not reported.
        if (!round.signal.aborted && !(this.trimming && connection.status === "connecting")) {
          this.trimming = false;
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
          this.rewoundAt = event.seq;
          this.reloadNeeded = true;
          break;
        }
        if (this.needsTrimming(context)) {
          this.trim(context.seq);
          round.abort();
          break;
        }
      }
    } catch (failure) {
      if (!(failure instanceof StreamGap) || failure.reason === "deleted") {
        throw failure;
      }
      this.reloadNeeded = true;
    }
    return { context, pastEnds };
  }

  private trim(seq: number): void {
    this.trimmedAt = seq;
    this.trimming = true;
    this.recent = this.options.recent ?? RECENT;
    this.earlierRequested = false;
    this.reloadNeeded = true;
  }

  private needsTrimming({ seq, base }: ContextState): boolean {
    const most = KEPT_MAX * (this.options.recent ?? RECENT);
    const can = this.options.from === "recent" && this.forgetful && !this.earlierUnavailable;
    return can && seq - Math.max(base, this.trimmedAt) > most;
  }

  private async load(): Promise<StartingPoint> {
    const { from } = this.options;
    const { context: known, connection = INITIAL_CONNECTION } = this.get();
    if (from === "start" && known === undefined) {
      return { context: emptyContext(this.contextId), pastEnds: 0 };
    }
    if (!this.trimming) {
      this.change({ connection: { ...connection, status: "connecting" } });
    }
    for (let failures = 1; ; failures++) {
      try {
        return await (from === "recent" ? this.loadRecent() : this.loadLatest());
      } catch (failure) {
        if (!(failure instanceof ParleyError) || this.closing.signal.aborted) {
          throw failure;
        }
        if (failure.retryable) {
          await this.waitToRetry(failures, failure);
        } else if (known === undefined || known.stale || GONE.includes(failure.status)) {
          throw failure;
        } else {
          // Continue with the known state.
          this.earlierUnavailable = true;
          return { context: known, pastEnds: 0 };
        }
      }
    }
  }

  /** Waits before the next attempt to load, and reports the delay. */
  private async waitToRetry(failures: number, failure: ParleyError): Promise<void> {
    const { backoff = BACKOFF, clock = SYSTEM_CLOCK, random = Math.random } = this.options;
    const retryInMs = delay(backoff, failures, failure.retryAfterMs, random);
    this.delayAbort = new AbortController();
    this.change({
      connection: {
        ...(this.get().connection ?? INITIAL_CONNECTION),
        status: "waiting",
        failures,
        retryInMs,
        reason: failure.message,
        unreachable: failure.status === 0,
      },
    });
    await clock.sleep(retryInMs, this.delayAbort.signal);
  }

  private async loadLatest(at?: number): Promise<StartingPoint> {
    const { messages } = this.options;
    const snapshot = await this.api.snapshot(this.contextId, {
      signal: this.closing.signal,
      ...(messages === undefined ? {} : { messages }),
      ...(at === undefined ? {} : { at }),
    });
    return { context: fromSnapshot(snapshot), pastEnds: 0 };
  }

  private async loadRecent(): Promise<StartingPoint> {
    const { position } = await this.api.context(this.contextId, { signal: this.closing.signal });
    const pastEnds = parsePosition(position).seq;
    const base = this.baseAt(pastEnds);
    if (base === 0) {
      return { context: emptyContext(this.contextId), pastEnds };
    }
    if (this.get().context === undefined) {
      // The latest snapshot loads fast, a past one does not: show it meanwhile.
      this.change({ context: (await this.loadLatest()).context });
    }
    return { ...(await this.loadLatest(base)), pastEnds };
  }

  /** The first recent event. */
  private baseAt(end: number): number {
    const base = Math.max(0, Math.min(end - this.recent, this.keep));
    // A snapshot after the rewind lacks the removed events, but reading them all takes too long.
    const far = end - base > REWOUND_MAX * (this.options.recent ?? RECENT);
    return far && !this.earlierRequested ? Math.max(base, this.rewoundAt) : base;
  }

  private change(change: Partial<LiveState>): void {
    // A closed context has no observers.
    if (!this.closing.signal.aborted) {
      this.set({ ...this.get(), ...change });
    }
  }
}
