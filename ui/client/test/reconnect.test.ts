import assert from "node:assert/strict";
import { test } from "node:test";
import { EventStream, formatPosition, type StreamedEvent } from "../src/index.js";
import { opening, TestClock } from "./fake-server.js";

const encoder = new TextEncoder();
const event = (seq: number): string => {
  const fields = { kind: "state-updated", seq, eventId: `e${seq}`, contextId: "c", delta: {} };
  const data = JSON.stringify({ ...fields, timestamp: "2026-11-15T12:00:00Z" });
  return `id: ${seq}\nevent: state-updated\ndata: ${data}\n\n`;
};

/** A server with open connections; each sends the event after its start. */
function stage() {
  const opened: string[] = [];
  const ended: AbortSignal[] = [];
  const clock = new TestClock();
  const stream = new EventStream(
    async (after, signal) => {
      const at = String(formatPosition(after));
      opened.push(at);
      ended.push(signal);
      const body = new ReadableStream<Uint8Array>({
        start: (to) => {
          to.enqueue(encoder.encode(opening(at) + event(Number(at) + 1)));
          signal.addEventListener("abort", () => to.error(signal.reason), { once: true });
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
    { clock },
  );
  return { stream, opened, ended, events: stream[Symbol.asyncIterator]() };
}

const seq = ({ value }: IteratorResult<StreamedEvent, void>): number | undefined => value?.seq;

test("told to reconnect, a stream goes on at once where it was, and waits for nothing", async () => {
  const { stream, opened, ended, events } = stage();
  assert.equal(seq(await events.next()), 1);
  const next = events.next();
  stream.reconnect();
  assert.equal(seq(await next), 2);
  assert.deepEqual(opened, ["0", "1"]);
  assert.deepEqual(
    [ended[0]?.aborted, stream.state.reconnects, stream.state.failures],
    [true, 1, 0],
  );
  stream.close();
});

test("a paused stream has no connection, and goes on when it is told", async () => {
  const { stream, opened, ended, events } = stage();
  assert.equal(seq(await events.next()), 1);
  const next = events.next();
  stream.pause();
  while (stream.state.status !== "paused") {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  assert.deepEqual([opened.length, ended[0]?.aborted], [1, true]);
  stream.resume();
  assert.equal(seq(await next), 2);
  assert.deepEqual([opened, stream.state.status], [["0", "1"], "live"]);
  stream.close();
});

test("a stream that is closed while it is paused ends", async () => {
  const { stream, events } = stage();
  await events.next();
  const next = events.next();
  stream.pause();
  while (stream.state.status !== "paused") {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  stream.close();
  assert.equal((await next).done, true);
  assert.equal(stream.state.status, "closed");
});
