import type { EventFilter, ParleyApi } from "./api.js";
import { BACKOFF, delay, SYSTEM_CLOCK } from "./clock.js";
import { type ConnectionState, UNTRIED } from "./connection.js";
import { ParleyError } from "./errors.js";
import { formatPosition, parsePosition } from "./position.js";
import { reduce } from "./reduce.js";
import { fromSnapshot } from "./snapshot.js";
import { type ContextState, emptyContext } from "./state.js";
import { Store } from "./store.js";
import {
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
/** So many times as many are read where a rewind went back further. */
const REWOUND_MAX = 5;
/** So many times as many are kept before what is not recent is forgotten. */
const KEPT_MAX = 4;
/** Not found, or deleted, or somebody else's. */
const GONE = [401, 403, 404, 410];

/**
 * A context that keeps itself up to date: a snapshot, the events after it, and a new snapshot where
 * those do not suffice. Close it when nobody looks any more.
 */
export class LiveContext extends Store<LiveState> {
  private readonly closing = new AbortController();
  /** Ends the stream that is being read, to begin another. */
  private round = new AbortController();
  private recent: number;
  /** What a rewind went back to, and where the rewind stands: recent begins at one of them. */
  private keep = Infinity;
  private rewoundAt = 0;
  /** True if somebody wants to see more than what is recent. */
  private asked = false;
  private again = true;
  /** True if nothing earlier can be had. */
  private stuck = false;
  /** True if only what is recent is looked at. */
  private forgetful = false;
  /** Where the log was when it was last tried to forget. */
  private forgotAt = 0;
  /** True while it forgets, which nobody needs to notice. */
  private quietly = false;
  /** Ends the wait for the next attempt to load. */
  private nap = new AbortController();
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
    this.nap.abort();
  }

  /**
   * Reads more of the earlier events, as many again or all from `seq` on, and shows what is known
   * meanwhile.
   */
  earlier(seq?: number): void {
    const { context } = this.get();
    if (context !== undefined && context.base > 0 && !this.stuck) {
      const more = this.options.recent ?? RECENT;
      const wanted = Math.min(context.base, seq ?? Infinity);
      this.recent = context.seq - wanted + more;
      this.asked = true;
      this.again = true;
      this.change({ loading: true });
      this.round.abort();
    }
  }

  /**
   * Says whether somebody looks at more than what is recent. If not, what is older is forgotten now
   * and then, so that a page may stay open for days; `earlier` brings it back.
   */
  forgets(forgetful: boolean): void {
    this.forgetful = forgetful;
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
    this.nap.abort();
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
        if (this.again && !this.quietly) {
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
        if (!round.signal.aborted && !(this.quietly && connection.status === "connecting")) {
          this.quietly = false;
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
          this.again = true;
          break;
        }
        if (this.tooMuch(context)) {
          this.forget(context.seq);
          round.abort();
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

  private forget(seq: number): void {
    this.forgotAt = seq;
    this.quietly = true;
    this.recent = this.options.recent ?? RECENT;
    this.asked = false;
    this.again = true;
  }

  private tooMuch({ seq, base }: ContextState): boolean {
    const most = KEPT_MAX * (this.options.recent ?? RECENT);
    const can = this.options.from === "recent" && this.forgetful && !this.stuck;
    return can && seq - Math.max(base, this.forgotAt) > most;
  }

  private async load(): Promise<Beginning> {
    const { from } = this.options;
    const { context: known, connection = UNTRIED } = this.get();
    if (from === "start" && known === undefined) {
      return { context: emptyContext(this.contextId), pastEnds: 0 };
    }
    if (!this.quietly) {
      this.change({ connection: { ...connection, status: "connecting" } });
    }
    for (let failures = 1; ; failures++) {
      try {
        return await (from === "recent" ? this.loadRecent() : this.loadLatest());
      } catch (failure) {
        if (!(failure instanceof ParleyError) || this.closing.signal.aborted) {
          throw failure;
        }
        if (failure.passing) {
          await this.rest(failures, failure);
        } else if (known === undefined || known.stale || GONE.includes(failure.status)) {
          throw failure;
        } else {
          // What is known is worth more than nothing, and goes on.
          this.stuck = true;
          return { context: known, pastEnds: 0 };
        }
      }
    }
  }

  /** Waits before the next attempt to load, and says so. */
  private async rest(failures: number, failure: ParleyError): Promise<void> {
    const { backoff = BACKOFF, clock = SYSTEM_CLOCK, random = Math.random } = this.options;
    const retryInMs = delay(backoff, failures, failure.retryAfterMs, random);
    this.nap = new AbortController();
    this.change({
      connection: {
        ...(this.get().connection ?? UNTRIED),
        status: "waiting",
        failures,
        retryInMs,
        reason: failure.message,
        unreachable: failure.status === 0,
      },
    });
    await clock.sleep(retryInMs, this.nap.signal);
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
    const base = this.baseAt(pastEnds);
    if (base === 0) {
      return { context: emptyContext(this.contextId), pastEnds };
    }
    if (this.get().context === undefined) {
      // The latest snapshot is there at once, one of the past is not: something to read meanwhile.
      this.change({ context: (await this.loadLatest()).context });
    }
    return { ...(await this.loadLatest(base)), pastEnds };
  }

  /** Where what is recent begins. */
  private baseAt(end: number): number {
    const base = Math.max(0, Math.min(end - this.recent, this.keep));
    // A snapshot from after a rewind knows nothing of what it left: better than to read it all.
    const far = end - base > REWOUND_MAX * (this.options.recent ?? RECENT);
    return far && !this.asked ? Math.max(base, this.rewoundAt) : base;
  }

  private change(change: Partial<LiveState>): void {
    // Nobody looks at one that is closed.
    if (!this.closing.signal.aborted) {
      this.set({ ...this.get(), ...change });
    }
  }
}
