import type { Clock } from "./clock.js";
import { type SseFrame, SseParser } from "./sse.js";

/** The state of a stream's connection. */
export interface ConnectionState {
  /**
   * `waiting` means between two attempts, `paused` until `resume` is called, `closed` permanently.
   */
  readonly status: "connecting" | "live" | "waiting" | "paused" | "closed";
  /** Consecutive failures. */
  readonly failures: number;
  /** The delay until the next attempt, while waiting. */
  readonly retryInMs?: number;
  /** Why it is not live. */
  readonly reason?: string;
  /**
   * True while waiting because no server responded or the connection broke; false if the server
   * rejected the request.
   */
  readonly unreachable?: boolean;
  /** The delay of the last event compared with the fastest live event. */
  readonly lagMs: number;
  /** The number of reconnections. */
  readonly reconnects: number;
  /** Events that happened while disconnected and arrived after a reconnection. */
  readonly recovered: number;
  /** Duplicate events that were dropped. */
  readonly duplicates: number;
}

/** The state before the first attempt. */
export const INITIAL_CONNECTION: ConnectionState = {
  status: "connecting",
  failures: 0,
  lagMs: 0,
  reconnects: 0,
  recovered: 0,
  duplicates: 0,
};

/** The connection broke, or the server sent nothing for too long. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

/** One HTTP response with an event stream, read frame by frame on demand. */
export class Connection {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private readonly parser = new SseParser();
  private readonly ready: SseFrame[] = [];

  constructor(
    body: ReadableStream<Uint8Array>,
    private readonly clock: Clock,
  ) {
    this.reader = body.getReader();
  }

  /**
   * The next frame, or undefined at the end of the stream.
   *
   * @throws ConnectionLost if the connection breaks or no byte arrives for `silenceMs`
   */
  async next(silenceMs: number): Promise<SseFrame | undefined> {
    while (this.ready.length === 0) {
      const bytes = await this.read(silenceMs);
      if (bytes === undefined) {
        return undefined;
      }
      this.ready.push(...this.parser.feed(bytes));
    }
    return this.ready.shift();
  }

  private async read(silenceMs: number): Promise<Uint8Array | undefined> {
    const heard = new AbortController();
    let silent = false;
    const watch = async (): Promise<undefined> => {
      await this.clock.sleep(silenceMs, heard.signal);
      silent = !heard.signal.aborted;
      return undefined;
    };
    try {
      const arrived = this.reader.read();
      // Data that arrives after the timeout is not read.
      arrived.catch(() => undefined);
      const result = await Promise.race([arrived, watch()]);
      if (silent) {
        throw new ConnectionLost(`the server sent nothing for ${silenceMs} ms`);
      }
      return result?.value;
    } catch (failure) {
      throw failure instanceof ConnectionLost
        ? failure
        : new ConnectionLost("the connection broke", { cause: failure });
    } finally {
      heard.abort();
    }
  }

  /** Closes the connection and discards unread data. */
  close(): void {
    this.reader.cancel().catch(() => undefined);
  }
}
