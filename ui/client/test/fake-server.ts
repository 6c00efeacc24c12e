import {
  type Clock,
  formatPosition,
  isAfter,
  parsePosition,
  type ParleyEvent,
  positionOf,
} from "../src/index.js";
import { SYSTEM_CLOCK } from "../src/clock.js";
import type { Random } from "./random.js";

/** Shorter delays end immediately; longer ones stand for a silent server. */
const SHORT_MS = 20_000;

/** A clock that advances with each delay. */
export class TestClock implements Clock {
  private time = Date.parse("2026-11-15T12:00:00Z");
  private readonly waiting = new Set<() => void>();
  readonly slept: number[] = [];

  /** Shorter delays end immediately. */
  constructor(private readonly shortMs = SHORT_MS) {}

  now(): number {
    return this.time;
  }

  async sleep(millis: number, signal?: AbortSignal): Promise<void> {
    if (millis < this.shortMs) {
      this.slept.push(millis);
      this.time += millis;
      return;
    }
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.waiting.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      this.waiting.add(done);
      signal?.addEventListener("abort", done);
    });
  }

  /** The number of long delays that have not ended. */
  get pending(): number {
    return this.waiting.size;
  }

  /** Advances the time and ends all long delays. */
  advance(millis: number): void {
    this.time += millis;
    this.pass();
  }

  /** Ends all long delays. */
  pass(): void {
    for (const done of [...this.waiting]) {
      done();
    }
  }
}

/** Real time, but short delays end immediately: servers ask clients to wait a second. */
export const FAST_CLOCK: Clock = {
  now: () => Date.now(),
  sleep: (millis, signal) =>
    millis < SHORT_MS
      ? new Promise((resolve) => setImmediate(resolve))
      : SYSTEM_CLOCK.sleep(millis, signal),
};

/** A fault of one connection. */
export interface Fault {
  /** Cuts the connection after this many bytes. */
  readonly cutAt?: number;
  /** Rejects the request with this status. */
  readonly refuse?: number;
  /** Sends nothing after this many bytes, but stays open. */
  readonly silentAt?: number;
  /** Starts this many events too early. */
  readonly repeat?: number;
  /** Leaves out the event at this index. */
  readonly drop?: number;
}

/** An in-memory server for one context, with faults. */
export class FakeServer {
  readonly requests: { path: string; lastEventId: string | undefined }[] = [];
  faults: Fault[] = [];

  constructor(
    readonly log: readonly ParleyEvent[],
    private readonly random: Random,
    private readonly clock: TestClock,
  ) {}

  readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(String(input), "http://stand.in");
    const lastEventId = new Headers(init?.headers).get("last-event-id") ?? undefined;
    this.requests.push({ path: url.pathname + url.search, lastEventId });
    const fault = this.faults.shift() ?? {};
    if (fault.refuse === 0) {
      throw new TypeError("fetch failed");
    }
    if (fault.refuse !== undefined) {
      const problem = { title: "No", status: fault.refuse, detail: "not now", code: "no" };
      return new Response(JSON.stringify(problem), { status: fault.refuse });
    }
    const body = this.body(lastEventId ?? "0", fault, init?.signal ?? undefined);
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };

  private body(
    lastEventId: string,
    fault: Fault,
    signal: AbortSignal | undefined,
  ): ReadableStream<Uint8Array> {
    const after = parsePosition(lastEventId);
    const from = this.log.findIndex((event) => isAfter(positionOf(event), after));
    const rest = from < 0 ? [] : this.log.slice(Math.max(0, from - (fault.repeat ?? 0)));
    const sent = rest.filter((_, i) => i !== fault.drop);
    const bytes = new TextEncoder().encode(
      opening(lastEventId, this.log.at(-1)?.seq ?? 0) + sent.map(frame).join(""),
    );
    const end = Math.min(fault.cutAt ?? bytes.length, fault.silentAt ?? bytes.length);
    let at = 0;
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        signal?.addEventListener("abort", () => {
          try {
            controller.error(new DOMException("aborted", "AbortError"));
          } catch {
            // The delay had ended.
          }
        });
      },
      pull: (controller) => {
        if (at < end) {
          const next = Math.min(end, at + 1 + this.random.int(this.random.pick([20, 4000])));
          controller.enqueue(bytes.slice(at, next));
          at = next;
        } else if (fault.cutAt !== undefined && fault.cutAt < bytes.length) {
          controller.error(new TypeError("terminated"));
        } else if (fault.silentAt !== undefined) {
          queueMicrotask(() => this.clock.pass());
        }
      },
    });
  }
}

/** The first frame of a stream; without `head`, all events are live. */
export function opening(position: string, head = parsePosition(position).seq): string {
  const open = { kind: "stream-open", contextId: "c", heartbeatMs: 15_000, head, position };
  return `retry: 1000\nid: ${position}\nevent: stream-open\ndata: ${JSON.stringify(open)}\n\n`;
}

export function frame(event: ParleyEvent): string {
  const kind = event.kind.replace("internal:", "");
  return `id: ${formatPosition(positionOf(event))}\nevent: ${kind}\ndata: ${JSON.stringify(event)}\n\n`;
}
