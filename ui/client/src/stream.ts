import type { EventFilter, ParleyApi } from "./api.js";
import { BACKOFF, type Backoff, type Clock, delay, SYSTEM_CLOCK } from "./clock.js";
import {
  Connection,
  type ConnectionState,
  ConnectionLost,
  INITIAL_CONNECTION,
} from "./connection.js";
import { ParleyError } from "./errors.js";
import type { ParleyEvent } from "./events.js";
import { path } from "./http.js";
import {
  formatPosition,
  isAfter,
  parsePosition,
  type ParsedPosition,
  positionOf,
  type Position,
} from "./position.js";
import { BadStream, type SseFrame } from "./sse.js";

/** The server cannot continue from the reader's position: load the context again. */
export class StreamGap extends Error {
  override readonly name = "StreamGap";

  /** `reason` is `ahead-of-head`, `deleted`, or `missing` if the server left out an event. */
  constructor(
    readonly reason: string,
    readonly position: Position | undefined,
  ) {
    super(`the stream cannot continue: ${reason}`);
  }
}

/** Options of a stream. */
export interface StreamOptions {
  /** The position to start after; by default the beginning. */
  readonly after?: Position;
  readonly filter?: EventFilter;
  /** Merges deltas of a block that are available together. */
  readonly merge?: boolean;
  readonly signal?: AbortSignal;
  readonly onState?: (state: ConnectionState) => void;
  readonly backoff?: Backoff;
  /** The number of consecutive failures after which the stream fails; unlimited by default. */
  readonly failuresMax?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** A streamed event; with `merge`, `fromSeq` is the position of the first merged event. */
export type StreamedEvent = ParleyEvent & { fromSeq?: number };

/** Opens a connection that sends the events after `after`. */
export type Opener = (after: ParsedPosition, signal: AbortSignal) => Promise<Response>;

const HEARTBEAT_USUAL_MS = 15_000;
const HEARTBEATS_MISSED_MAX = 2.5;
const FOREVER_MS = 2 ** 31 - 1;
const GARBLED_MAX = 3;
const START = parsePosition(0);

/**
 * A context's events, in order, each exactly once, across reconnections.
 *
 * Read it once, with `for await`. After a lost connection, or after two and a half heartbeats
 * without data, it reconnects and continues after the last event. It throws `ParleyError` if the
 * server rejects the request permanently, and `StreamGap` if it cannot continue.
 */
export class EventStream implements AsyncIterable<StreamedEvent> {
  private readonly clock: Clock;
  private readonly closing = new AbortController();
  private readonly dense: boolean;
  private place: ParsedPosition;
  private connected = INITIAL_CONNECTION;
  private silenceMs = HEARTBEAT_USUAL_MS * HEARTBEATS_MISSED_MAX;
  private askedMs: number | undefined;
  private garbled = 0;
  private connects = 0;
  /** The end of the log when the connection was opened: later events are live. */
  private head: ParsedPosition = START;
  /** The shortest apparent delay of a live event, which includes the difference of the clocks. */
  private fastestMs = Infinity;
  /** Ends the current connection or delay, so that the next attempt starts immediately. */
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

  /** The reader's position: all events up to here were returned or filtered out. */
  get position(): Position {
    return formatPosition(this.place);
  }

  /** The state of the connection. */
  get state(): ConnectionState {
    return this.connected;
  }

  /** Stops reading; tasks continue. */
  close(): void {
    if (!this.closing.signal.aborted) {
      this.closing.abort();
      this.turn.abort();
      this.go?.();
      this.change({ status: "closed" });
    }
  }

  /** Reconnects immediately and continues, for example after sleep or when the network is back. */
  reconnect(): void {
    this.turn.abort();
  }

  /** Closes the connection until `resume`. */
  pause(): void {
    this.go ??= () => undefined;
    this.turn.abort();
  }

  /** Continues after `pause`. */
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
        const turn = new AbortController();
        this.turn = turn;
        try {
          yield* this.connection(turn);
          await this.waitToRetry(new ConnectionLost("the server ended the stream"), turn);
        } catch (failure) {
          await this.waitToRetry(failure, turn);
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
      await new Promise<void>((resolve) => {
        this.go = resolve;
      });
    }
  }

  /** The events of one connection. */
  private async *connection(turn: AbortController): AsyncGenerator<StreamedEvent> {
    this.change({ status: "connecting" });
    // Aborts this connection, in any state.
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
      // Newer servers may send other stream frames; they are not events.
      return this.accept(fields as unknown as StreamedEvent);
    }
    return undefined;
  }

  private opened(fields: Record<string, unknown>): void {
    const heartbeat = fields["heartbeatMs"];
    const millis = typeof heartbeat === "number" ? heartbeat : HEARTBEAT_USUAL_MS;
    // An interval of zero means that there are no heartbeats.
    this.silenceMs = millis === 0 ? FOREVER_MS : Math.round(millis * HEARTBEATS_MISSED_MAX);
    // Servers before 0.2 do not send it.
    const head = fields["head"] as Position | undefined;
    this.head = head === undefined ? START : parseId(String(head));
    // The failure count is reset only when an event arrives, so that the delays still grow if the
    // server drops every connection.
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
        // A heartbeat means that no event is delayed.
        this.change({ lagMs: 0 });
      }
    }
  }

  private accept(event: StreamedEvent): StreamedEvent | undefined {
    if (!Number.isSafeInteger(event.seq) || event.seq < 1 || typeof event.kind !== "string") {
      throw new BadStream("the server sent an event without a number or a kind");
    }
    const place = positionOf(event);
    if (!isAfter(place, this.place)) {
      this.change({ duplicates: this.connected.duplicates + 1 });
      return undefined;
    }
    if (this.dense && this.leavesOut(place, event.fromSeq)) {
      throw new BadStream(`the server left out what follows ${this.position}`);
    }
    this.place = place;
    this.arrived(event, place);
    return event;
  }

  /** True if an event is missing before this one, which may stand for several. */
  private leavesOut(place: ParsedPosition, fromSeq: number | undefined): boolean {
    if (place.k > 0) {
      const next = place.seq === this.place.seq ? this.place.k + 1 : 1;
      return place.seq > this.place.seq || place.k > next;
    }
    return (fromSeq ?? place.seq) > this.place.seq + 1;
  }

  private arrived(event: StreamedEvent, place: ParsedPosition): void {
    this.healthy();
    const live = isAfter(place, this.head);
    // A merged event may have begun before the connection was opened and ended after that.
    const recovered = Math.min(event.seq, this.head.seq) - (event.fromSeq ?? event.seq) + 1;
    if (this.connects > 1 && recovered > 0 && (!live || event.fromSeq !== undefined)) {
      this.change({ recovered: this.connected.recovered + recovered });
    }
    const delayMs = this.clock.now() - Date.parse(event.timestamp);
    if (live && !Number.isNaN(delayMs)) {
      this.fastestMs = Math.min(this.fastestMs, delayMs);
      this.change({ lagMs: delayMs - this.fastestMs });
    }
  }

  private healthy(): void {
    this.garbled = 0;
    if (this.connected.failures > 0) {
      this.change({ failures: 0 });
    }
  }

  /** Waits before the next attempt, or throws if a retry is pointless. */
  private async waitToRetry(failure: unknown, turn: AbortController): Promise<void> {
    if (turn.signal.aborted) {
      return; // The connection was ended deliberately.
    }
    const passing =
      failure instanceof ParleyError ? failure.retryable : failure instanceof ConnectionLost;
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
      failure instanceof ConnectionLost || (failure instanceof ParleyError && failure.status === 0);
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

/** Streams the events of a context from a position, without end. */
export function streamContext(
  api: ParleyApi,
  contextId: string,
  options: StreamOptions = {},
): EventStream {
  return new EventStream(contextOpener(api, contextId, options), options);
}

export function contextOpener(api: ParleyApi, contextId: string, options: StreamOptions): Opener {
  return (after, signal) =>
    api.http.request({
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

function parseId(id: string): ParsedPosition {
  try {
    return parsePosition(id);
  } catch (notOne) {
    throw new BadStream("the server sent an id that is not a position", { cause: notOne });
  }
}
