import assert from "node:assert/strict";
import { test } from "node:test";
import {
  exportJson,
  knownContent,
  markdownOf,
  messagesAt,
  type ParleyEvent,
  sizeText,
  view,
} from "../src/index.js";
import { counting, LogServer } from "./log-server.js";
import { RandomLog } from "./random-log.js";

async function json(server: LogServer, upTo?: number): Promise<{ events: ParleyEvent[] }> {
  let text = "";
  for await (const part of exportJson(server.api, "c", { upTo })) {
    text += part;
  }
  return JSON.parse(text) as { events: ParleyEvent[] };
}

test("an export has the context and every event, or those up to one", async () => {
  const server = new LogServer(counting(2_500));
  assert.deepEqual((await json(server)).events, server.events);
  assert.deepEqual((await json(server, 1_200)).events, server.events.slice(0, 1_200));
  assert.deepEqual((await json(new LogServer([]))).events, []);
});

test("what was said up to an event is all of it, as it read there", async () => {
  const { events } = new RandomLog(11, 3);
  const server = new LogServer(events);
  for (const { seq } of events.filter((one) => one.k === undefined)) {
    const said = view(server.at(seq)).conversation.flatMap((one) =>
      one.kind === "message" ? [one.message] : [],
    );
    assert.deepEqual(await messagesAt(server.api, "c", seq), said, `up to ${seq}`);
  }
});

test("an export for people has what was said, and what was written", () => {
  const text = markdownOf(
    { contextId: "c", title: "A\ntitle\u001b[31m", createdAt: "2026-11-15T10:00:00.000Z" },
    [
      { role: "user", content: "hello\n" },
      { role: "assistant", agentId: "a", content: "**hi**" },
    ],
    [{ artifactId: "r", name: "report.md", type: "file", version: 2, size: 2_048 }],
  );
  assert.equal(
    text,
    "# A title[31m\n\nContext `c`, 2026-11-15T10:00:00.000Z\n\n## user\n\nhello\n\n" +
      "## assistant (a)\n\n**hi**\n\n## Artifacts\n\n- report.md (file, version 2, 2.0 KB, `r`)\n",
  );
  assert.deepEqual([1_023, 1 << 20, 3e9].map(sizeText), ["1023 B", "1.0 MB", "2.8 GB"]);
});

test("an artifact's content is known while it grows: text, bytes, data and rows", () => {
  const write = (fields: object): ParleyEvent =>
    ({
      seq: 1,
      eventId: "e",
      contextId: "c",
      timestamp: "2026-11-15T10:00:00.000Z",
      artifactId: "r",
      index: 0,
      complete: false,
      ...fields,
    }) as unknown as ParleyEvent;
  const known = (...events: object[]) => {
    const server = new LogServer(events.map((event, seq) => ({ ...write(event), seq: seq + 1 })));
    const version = view(server.at(Infinity)).artifacts[0];
    return version && knownContent(version);
  };
  const file = { kind: "file-write", name: "a.md" };
  assert.deepEqual(known({ ...file, data: "# A" }, { ...file, data: " b", index: 1 }), {
    type: "text",
    text: "# A b",
  });
  const image = { kind: "file-write", name: "a.png", encoding: "base64" };
  assert.deepEqual(known({ ...image, data: "AAEC" }, { ...image, data: "Aw", index: 1 }), {
    type: "bytes",
    bytes: Uint8Array.of(0, 1, 2),
  });
  const text = { kind: "file-write", name: "a.txt", encoding: "base64", complete: true };
  assert.deepEqual(known({ ...text, data: "w6Q=" }), { type: "text", text: "ä" });
  assert.deepEqual(known({ kind: "data-write", data: { a: 1 } }), { type: "data", data: { a: 1 } });
  const rows = { kind: "dataset-write", rows: [{ a: 1 }] };
  assert.deepEqual(known(rows, { ...rows, index: 1 }), {
    type: "dataset",
    rows: [{ a: 1 }, { a: 1 }],
    cut: false,
  });
});
