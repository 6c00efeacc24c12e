import assert from "node:assert/strict";
import { test } from "node:test";
import { BadStream, type SseFrame, SseParser } from "../src/index.js";
import { Random, seeds } from "./random.js";

const encoder = new TextEncoder();

function parse(...chunks: Uint8Array[]): SseFrame[] {
  const parser = new SseParser();
  return chunks.flatMap((chunk) => parser.feed(chunk));
}

const STREAM =
  "retry: 1000\nid: 0\nevent: stream-open\ndata: {}\n\n: hello\n\n" +
  "id: 17.2\r\nevent: content-delta\r\ndata: wörd 語 🦜\r\ndata: two\r\n\r\n" +
  "id: 18\r: comment\rdata\rdata:x\rdata:  y\r\r" +
  "id: 19\n: heartbeat\n\n\n\nunknown: z\n\nevent: nothing\n\ndata: unfinished\n";

const FRAMES: SseFrame[] = [
  { retry: 1000, id: "0", event: "stream-open", data: "{}" },
  { id: "17.2", event: "content-delta", data: "wörd 語 🦜\ntwo" },
  { id: "18", event: "message", data: "\nx\n y" },
  { id: "19", event: "message" },
  { event: "nothing" },
];

test("frames are what the standard says, and a heartbeat is one too", () => {
  assert.deepEqual(parse(encoder.encode(STREAM)), FRAMES);
});

test("it makes no difference where the bytes are cut", () => {
  const bytes = encoder.encode(STREAM);
  for (let i = 0; i <= bytes.length; i++) {
    assert.deepEqual(parse(bytes.slice(0, i), bytes.slice(i)), FRAMES, `cut at ${i}`);
  }
  assert.deepEqual(parse(...Array.from(bytes, (byte) => Uint8Array.of(byte))), FRAMES);
});

test("nor does it with cuts at random", () => {
  for (const seed of seeds(200)) {
    const random = new Random(seed);
    const bytes = encoder.encode(STREAM);
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; ) {
      const size = random.int(12);
      chunks.push(bytes.slice(at, at + size));
      at += size;
    }
    assert.deepEqual(parse(...chunks), FRAMES, `seed ${seed}`);
  }
});

test("a byte order mark at the start is no part of it, and one later is", () => {
  assert.deepEqual(parse(encoder.encode("\uFEFFdata: x\n\ndata: \uFEFFy\n\n")), [
    { event: "message", data: "x" },
    { event: "message", data: "\uFEFFy" },
  ]);
});

test("an id with a NUL and a retry that is no number are ignored", () => {
  assert.deepEqual(parse(encoder.encode("id: a\0b\nretry: 1x\ndata: x\n\n")), [
    { event: "message", data: "x" },
  ]);
});

test("bytes that are not UTF-8 are refused", () => {
  assert.throws(() => parse(Uint8Array.of(0x64, 0x3a, 0xc3, 0x0a)), BadStream);
});

test("a frame without end is refused, and many short ones are not", () => {
  const parser = new SseParser(100);
  for (let i = 0; i < 50; i++) {
    parser.feed(encoder.encode(": a comment of some length\ndata: x\n\n"));
  }
  assert.throws(() => {
    for (let i = 0; i < 50; i++) {
      parser.feed(encoder.encode("data: xxxx\n"));
    }
  }, BadStream);
});
