import {
  type Clock,
  formatPosition,
  isAfter,
  parsePosition,
  type ParleyEvent,
  placeOf,
} from "../src/index.js";
import { SYSTEM_CLOCK } from "../src/clock.js";
import type { Random } from "./random.js";

/** Waits shorter than this are over at once; longer ones are for somebody who is silent. */
const SHORT_MS = 20_000;

/** Time that passes when somebody waits for it. */
export class TestClock implements Clock {
  private time = Date.parse("2026-11-15T12:00:00Z");
  private readonly waiting = new Set<() => void>();
  readonly slept: number[] = [];

  /** Waits that are shorter than this are over at once. */
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

  /** Lets all long waits be over. */
  pass(): void {
    [...this.waiting].forEach((done) => done());
  }
}

/** Real time, but for short waits, which are over at once: servers ask readers to wait a second. */
export const HASTY_CLOCK: Clock = {
  now: () => Date.now(),
  sleep: (millis, signal) =>
    millis < SHORT_MS
      ? new Promise((resolve) => setImmediate(resolve))
      : SYSTEM_CLOCK.sleep(millis, signal),
};

/** What happens to one connection. */
export interface Fault {
  /** Cut after so many bytes. */
  readonly cutAt?: number;
  /** Refused, with this status. */
  readonly refuse?: number;
  /** Nothing is sent after so many bytes, and nothing is closed. */
  readonly silentAt?: number;
  /** Begins so many events too early. */
  readonly repeat?: number;
  /** Leaves out the event at this place of what it sends. */
  readonly drop?: number;
}

/** A server for one context, in memory, that does not always behave. */
export class StandIn {
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
    const from = this.log.findIndex((event) => isAfter(placeOf(event), after));
    const rest = from < 0 ? [] : this.log.slice(Math.max(0, from - (fault.repeat ?? 0)));
    const sent = rest.filter((_, i) => i !== fault.drop);
    const bytes = new TextEncoder().encode(opening(lastEventId) + sent.map(frame).join(""));
    const end = Math.min(fault.cutAt ?? bytes.length, fault.silentAt ?? bytes.length);
    let at = 0;
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        signal?.addEventListener("abort", () => {
          try {
            controller.error(new DOMException("aborted", "AbortError"));
          } catch {
            // It was over.
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

export function opening(position: string): string {
  const open = { kind: "stream-open", contextId: "c", heartbeatMs: 15_000, position };
  return `retry: 1000\nid: ${position}\nevent: stream-open\ndata: ${JSON.stringify(open)}\n\n`;
}

export function frame(event: ParleyEvent): string {
  const kind = event.kind.replace("internal:", "");
  return `id: ${formatPosition(placeOf(event))}\nevent: ${kind}\ndata: ${JSON.stringify(event)}\n\n`;
}
