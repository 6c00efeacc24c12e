import type { EventFilter, ParleyApi } from "./api.js";
import { BACKOFF, type Backoff, type Clock, delay, SYSTEM_CLOCK } from "./clock.js";
import { Connection, type ConnectionState, Cut, UNTRIED } from "./connection.js";
import { ParleyError } from "./errors.js";
import type { ParleyEvent } from "./events.js";
import { path } from "./http.js";
import { Lag } from "./lag.js";
import {
  formatPosition,
  isAfter,
  parsePosition,
  type Place,
  placeOf,
  type Position,
} from "./position.js";
import { BadStream, type SseFrame } from "./sse.js";

/** The server cannot go on from where this reader stands: load the context afresh. */
export class StreamGap extends Error {
  override readonly name = "StreamGap";

  /** `reason` is `ahead-of-head`, `deleted`, or `missing` if the server left something out. */
  constructor(
    readonly reason: string,
    readonly position: Position | undefined,
  ) {
    super(`the stream cannot go on: ${reason}`);
  }
}

/** How to read. */
export interface StreamOptions {
  /** Everything after this; the start, if it is missing. */
  readonly after?: Position;
  readonly filter?: EventFilter;
  /** Makes one event of deltas of one block that are ready together; saves work, loses nothing. */
  readonly merge?: boolean;
  readonly signal?: AbortSignal;
  readonly onState?: (state: ConnectionState) => void;
  readonly backoff?: Backoff;
  /** Gives up after so many failures in a row; never, if it is missing. */
  readonly failuresMax?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** An event as a stream sends it; with `merge`, `fromSeq` is where the first of several stood. */
export type StreamedEvent = ParleyEvent & { fromSeq?: number };

/** Opens a connection that sends what comes after `after`. */
export type Opener = (after: Place, signal: AbortSignal) => Promise<Response>;

const HEARTBEAT_USUAL_MS = 15_000;
const HEARTBEATS_MISSED_MAX = 2.5;
const FOREVER_MS = 2 ** 31 - 1;
const GARBLED_MAX = 3;

/**
 * A context's events, in order, each once, however often the connection is lost.
 *
 * Read it with `for await`, once. After a cut, or when the server has been silent for two and a
 * half heartbeats, it connects again and goes on after the last event it gave. It throws
 * `ParleyError` if the server refuses for good, and `StreamGap` if there is no going on from here.
 */
export class EventStream implements AsyncIterable<StreamedEvent> {
  private readonly clock: Clock;
  private readonly closing = new AbortController();
  private readonly dense: boolean;
  private place: Place;
  private connected = UNTRIED;
  private silenceMs = HEARTBEAT_USUAL_MS * HEARTBEATS_MISSED_MAX;
  private askedMs: number | undefined;
  private garbled = 0;
  private connects = 0;
  private readonly lag = new Lag();
  /** Ends the connection, or the wait for one, so that the next begins at once. */
  private turn = new AbortController();
  private go: (() => void) | undefined;

  constructor(
    private readonly open: Opener,
    private readonly options: StreamOptions = {},
  ) {
    this.clock = options.clock ?? SYSTEM_CLOCK;
    this.place = parsePosition(options.after ?? 0);
    const { internal: _, ...filters } = options.filter ?? {};
    this.dense = Object.values(filters).every((value) => value === undefined);
    options.signal?.addEventListener("abort", () => this.close(), { once: true });
    if (options.signal?.aborted === true) {
      this.close();
    }
  }

  /** Where the reader stands: all up to here was given out, or was not asked for. */
  get position(): Position {
    return formatPosition(this.place);
  }

  /** How it is doing. */
  get state(): ConnectionState {
    return this.connected;
  }

  /** Ends the reading, and stops nothing else. */
  close(): void {
    if (!this.closing.signal.aborted) {
      this.closing.abort();
      this.turn.abort();
      this.go?.();
      this.change({ status: "closed" });
    }
  }

  /** Connects again at once, and goes on where it was: after sleep, or when a network is back. */
  reconnect(): void {
    this.turn.abort();
  }

  /** Gives its connection back, and reads nothing until `resume`. */
  pause(): void {
    this.go ??= () => undefined;
    this.turn.abort();
  }

  /** Goes on after `pause`; does nothing otherwise. */
  resume(): void {
    const go = this.go;
    this.go = undefined;
    go?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamedEvent, void, undefined> {
    try {
      while (!this.closed()) {
        await this.whilePaused();
        if (this.closed()) {
          return;
        }
        const turn = (this.turn = new AbortController());
        try {
          yield* this.connection(turn);
          await this.rest(new Cut("the server ended the stream"), turn);
        } catch (failure) {
          await this.rest(failure, turn);
        }
      }
    } catch (failure) {
      this.change({ reason: failure instanceof Error ? failure.message : String(failure) });
      throw failure;
    } finally {
      this.close();
    }
  }

  private async whilePaused(): Promise<void> {
    if (this.go !== undefined) {
      this.change({ status: "paused" });
      await new Promise<void>((resolve) => (this.go = resolve));
    }
  }

  /** What one connection brings, until it ends. */
  private async *connection(turn: AbortController): AsyncGenerator<StreamedEvent> {
    this.change({ status: "connecting" });
    // Ends this connection, whether it is being made, is read from, or was left in the middle.
    const leave = new AbortController();
    const stop = (): void => leave.abort();
    turn.signal.addEventListener("abort", stop, { once: true });
    try {
      const response = await this.open(this.place, leave.signal);
      const type = response.headers.get("content-type") ?? "nothing";
      if (response.body === null || !type.startsWith("text/event-stream")) {
        const what = `the server answered with ${type} instead of a stream`;
        throw new ParleyError(response.status, "bad-answer", what);
      }
      if (this.connects++ > 0) {
        this.change({ reconnects: this.connects - 1 });
      }
      const connection = new Connection(response.body, this.clock);
      try {
        for (;;) {
          const frame = await connection.next(this.silenceMs);
          if (frame === undefined || turn.signal.aborted) {
            return;
          }
          const event = this.take(frame);
          if (event !== undefined) {
            yield event;
          }
          if (turn.signal.aborted) {
            return;
          }
        }
      } finally {
        connection.close();
      }
    } finally {
      turn.signal.removeEventListener("abort", stop);
      stop();
    }
  }

  private take(frame: SseFrame): StreamedEvent | undefined {
    this.askedMs = frame.retry ?? this.askedMs;
    if (frame.data === undefined) {
      this.heartbeat(frame);
      return undefined;
    }
    const fields = parse(frame.data);
    if (frame.event === "stream-open") {
      this.opened(fields);
    } else if (frame.event === "stream-gap") {
      throw new StreamGap(String(fields["reason"] ?? "unknown"), fields["position"] as Position);
    } else if (!frame.event.startsWith("stream-")) {
      // Later servers may say other things about the stream itself; they are no facts.
      return this.accept(fields as unknown as StreamedEvent);
    }
    return undefined;
  }

  private opened(fields: Record<string, unknown>): void {
    const heartbeat = fields["heartbeatMs"];
    const millis = typeof heartbeat === "number" ? heartbeat : HEARTBEAT_USUAL_MS;
    // An interval of zero says that there are no heartbeats.
    this.silenceMs = millis === 0 ? FOREVER_MS : Math.round(millis * HEARTBEATS_MISSED_MAX);
    this.lag.opened(this.clock.now());
    // The waits go on growing until something else comes, lest a server that drops every reader be
    // called without a pause.
    this.change({ status: "live", lagMs: 0 });
  }

  private heartbeat(frame: SseFrame): void {
    if (frame.id !== undefined && frame.event === "message") {
      const place = parseId(frame.id);
      if (this.dense && place.seq > this.place.seq) {
        throw new BadStream(`the server left out what follows ${this.position}`);
      }
      this.place = isAfter(place, this.place) ? place : this.place;
      this.healthy();
      if (this.connected.lagMs > 0) {
        // Nothing is on its way any more: how late the last event was is no longer of interest.
        this.change({ lagMs: 0 });
      }
    }
  }

  private accept(event: StreamedEvent): StreamedEvent | undefined {
    if (!Number.isSafeInteger(event.seq) || event.seq < 1 || typeof event.kind !== "string") {
      throw new BadStream("the server sent an event without a number or a kind");
    }
    const place = placeOf(event);
    if (!isAfter(place, this.place)) {
      this.change({ duplicates: this.connected.duplicates + 1 });
      return undefined;
    }
    if (this.dense && this.leavesOut(place, event.fromSeq)) {
      throw new BadStream(`the server left out what follows ${this.position}`);
    }
    this.place = place;
    this.arrived(event);
    return event;
  }

  /** True if an event lies between the last one and this, which may stand for several. */
  private leavesOut(place: Place, fromSeq: number | undefined): boolean {
    if (place.k > 0) {
      const next = place.seq === this.place.seq ? this.place.k + 1 : 1;
      return place.seq > this.place.seq || place.k > next;
    }
    return (fromSeq ?? place.seq) > this.place.seq + 1;
  }

  private arrived(event: StreamedEvent): void {
    this.healthy();
    const sent = Date.parse(event.timestamp);
    if (Number.isNaN(sent)) {
      return;
    }
    const lagMs = this.lag.of(sent, this.clock.now());
    if (lagMs !== undefined) {
      this.change({ lagMs });
    } else if (this.connects > 1) {
      const events = event.seq - (event.fromSeq ?? event.seq) + 1;
      this.change({ recovered: this.connected.recovered + events });
    }
  }

  private healthy(): void {
    this.garbled = 0;
    if (this.connected.failures > 0) {
      this.change({ failures: 0 });
    }
  }

  /** Waits as long as one should after this failure, unless there is no point in waiting. */
  private async rest(failure: unknown, turn: AbortController): Promise<void> {
    if (turn.signal.aborted) {
      return; // It was told to end this connection, or all.
    }
    const passing = failure instanceof ParleyError ? failure.passing : failure instanceof Cut;
    const garbled = failure instanceof BadStream && ++this.garbled < GARBLED_MAX;
    const failures = this.connected.failures + 1;
    if (failure instanceof BadStream && !garbled) {
      throw new StreamGap("missing", this.position);
    }
    if ((!passing && !garbled) || failures > (this.options.failuresMax ?? Infinity)) {
      throw failure;
    }
    const asked = (failure instanceof ParleyError && failure.retryAfterMs) || this.askedMs;
    const random = this.options.random ?? Math.random;
    const wait = delay(this.options.backoff ?? BACKOFF, failures, asked, random);
    const reason = failure instanceof Error ? failure.message : String(failure);
    const unreachable =
      failure instanceof Cut || (failure instanceof ParleyError && failure.status === 0);
    this.change({ status: "waiting", failures, retryInMs: wait, reason, unreachable });
    await this.clock.sleep(wait, turn.signal);
  }

  private closed(): boolean {
    return this.closing.signal.aborted;
  }

  private change(change: Partial<ConnectionState>): void {
    const closed = this.connected.status === "closed";
    const next = { ...this.connected, ...change, ...(closed ? { status: "closed" as const } : {}) };
    if (next.status !== "waiting") {
      delete next.retryInMs;
      delete next.unreachable;
    }
    if (next.status === "live") {
      delete next.reason;
    }
    this.connected = next;
    this.options.onState?.(next);
  }
}

/** The events of a context, from a position on, for ever. */
export function streamContext(
  api: ParleyApi,
  contextId: string,
  options: StreamOptions = {},
): EventStream {
  return new EventStream(contextOpener(api, contextId, options), options);
}

export function contextOpener(api: ParleyApi, contextId: string, options: StreamOptions): Opener {
  return (after, signal) =>
    api.http.answer({
      path: path`/api/contexts/${contextId}/stream`,
      query: { ...options.filter, ...(options.merge === true ? { merge: true } : {}) },
      headers: { accept: "text/event-stream", "last-event-id": String(formatPosition(after)) },
      signal,
    });
}

function parse(data: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(data);
    if (typeof json === "object" && json !== null) {
      return json as Record<string, unknown>;
    }
  } catch (notJson) {
    throw new BadStream("the server sent a frame that is not JSON", { cause: notJson });
  }
  throw new BadStream("the server sent a frame that is not a JSON object");
}

function parseId(id: string): Place {
  try {
    return parsePosition(id);
  } catch (notOne) {
    throw new BadStream("the server sent an id that is no position", { cause: notOne });
  }
}
