import type { EventFilter, ParleyApi } from "./api.js";
import { BACKOFF, delay, SYSTEM_CLOCK } from "./clock.js";
import { ParleyError } from "./errors.js";
import { formatPosition } from "./position.js";
import { reduce } from "./reduce.js";
import { fromSnapshot } from "./snapshot.js";
import { type ContextState, emptyContext } from "./state.js";
import { Store } from "./store.js";
import { type ConnectionState, streamContext, StreamGap, type StreamOptions } from "./stream.js";

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
  /** `snapshot` (default) begins with the latest messages, `start` reads all there ever was. */
  readonly from?: "snapshot" | "start";
  /** How many messages the snapshot has. */
  readonly messages?: number;
  /** Filters that leave the context whole: which thoughts, and whether internal events. */
  readonly filter?: Pick<EventFilter, "internal" | "verbosity" | "thoughtTypes" | "minConfidence">;
}

/**
 * A context that keeps itself up to date: a snapshot, the events after it, and a new snapshot where
 * those do not suffice. Close it when nobody looks any more.
 */
export class LiveContext extends Store<LiveState> {
  private readonly closing = new AbortController();

  constructor(
    private readonly api: ParleyApi,
    readonly contextId: string,
    private readonly options: LiveOptions = {},
  ) {
    super({ context: undefined, loading: true, connection: undefined, error: undefined });
    options.signal?.addEventListener("abort", () => this.close(), { once: true });
    void this.run();
  }

  close(): void {
    this.closing.abort();
  }

  private async run(): Promise<void> {
    try {
      while (!this.closing.signal.aborted) {
        const context = await this.load();
        this.change({ context, loading: false });
        await this.follow(context);
        this.change({ loading: true });
      }
    } catch (failure) {
      if (!this.closing.signal.aborted) {
        const error = failure instanceof Error ? failure : new Error(String(failure));
        this.change({ error, loading: false });
      }
    }
  }

  /** Takes in events until only a new snapshot can help. */
  private async follow(from: ContextState): Promise<void> {
    let context = from;
    const stream = streamContext(this.api, this.contextId, {
      merge: true,
      ...this.options,
      after: formatPosition(from),
      signal: this.closing.signal,
      onState: (connection) => this.change({ connection }),
    });
    try {
      for await (const event of stream) {
        context = reduce(context, event);
        this.change({ context });
        if (context.stale) {
          return;
        }
      }
    } catch (failure) {
      if (!(failure instanceof StreamGap) || failure.reason === "deleted") {
        throw failure;
      }
    }
  }

  private async load(): Promise<ContextState> {
    const { from, messages } = this.options;
    const again = this.get().context !== undefined;
    if (from === "start" && !again) {
      return emptyContext(this.contextId);
    }
    const clock = this.options.clock ?? SYSTEM_CLOCK;
    for (let failures = 1; ; failures++) {
      try {
        const signal = this.closing.signal;
        const wanted = { signal, ...(messages === undefined ? {} : { messages }) };
        return fromSnapshot(await this.api.snapshot(this.contextId, wanted));
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

  private change(change: Partial<LiveState>): void {
    // Nobody looks at one that is closed.
    if (!this.closing.signal.aborted) {
      this.set({ ...this.get(), ...change });
    }
  }
}
