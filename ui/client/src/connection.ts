import type { Clock } from "./clock.js";
import { type SseFrame, SseParser } from "./sse.js";

/** How a stream is doing, for people. */
export interface ConnectionState {
  /** `waiting` is between two attempts, `paused` until told; `closed` is for ever. */
  readonly status: "connecting" | "live" | "waiting" | "paused" | "closed";
  /** Failures in a row. */
  readonly failures: number;
  /** How long until the next attempt, while it waits. */
  readonly retryInMs?: number;
  /** Why it is not live, in words. */
  readonly reason?: string;
  /** True while it waits because no server answered, or the connection broke: not if it refused. */
  readonly unreachable?: boolean;
  /** How much longer the last event was on its way than the fastest that came while it happened. */
  readonly lagMs: number;
  /** How often it connected again. */
  readonly reconnects: number;
  /** Events that happened while there was no connection, and came when there was one again. */
  readonly recovered: number;
  /** Events that came twice, and were dropped. */
  readonly duplicates: number;
}

/** How a stream is before it was tried to connect. */
export const UNTRIED: ConnectionState = {
  status: "connecting",
  failures: 0,
  lagMs: 0,
  reconnects: 0,
  recovered: 0,
  duplicates: 0,
};

/** The connection broke, or the server has been silent for too long. */
export class Cut extends Error {
  override readonly name = "Cut";
}

/** One answer that is an event stream, read frame by frame. It reads no more than is asked for. */
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
   * The next frame, or nothing at the end of the stream.
   *
   * @throws Cut if the connection breaks or not a byte comes for `silenceMs`
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
      // What comes after a silence is read by nobody.
      arrived.catch(() => undefined);
      const result = await Promise.race([arrived, watch()]);
      if (silent) {
        throw new Cut(`the server was silent for ${silenceMs} ms`);
      }
      return result?.value;
    } catch (failure) {
      throw failure instanceof Cut ? failure : new Cut("the connection broke", { cause: failure });
    } finally {
      heard.abort();
    }
  }

  /** Ends the connection. What was not read is not read any more. */
  close(): void {
    this.reader.cancel().catch(() => undefined);
  }
}
