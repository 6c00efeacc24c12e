/** A frame of an event stream. A heartbeat has an id and no data. */
export interface SseFrame {
  readonly id?: string;
  readonly event: string;
  readonly data?: string;
  readonly retry?: number;
}

/** The server sent an invalid event stream. */
export class BadStream extends Error {
  override readonly name = "BadStream";
}

const LF = 10;
const CR = 13;
const COLON = 58;
const FRAME_MAX = 16 << 20;
const RETRY = /^\d{1,9}$/;

/**
 * Parses the bytes of an event stream into frames, in chunks of any size.
 *
 * Lines are split as bytes and decoded whole, so a chunk may end inside a character. Unlike a
 * browser, the parser also yields frames without data, such as heartbeats, and rejects invalid
 * UTF-8 instead of replacing it.
 */
export class SseParser {
  private readonly decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  private pieces: Uint8Array[] = [];
  private held = 0;
  private afterReturn = false;
  private atStart = true;
  private begun = false;
  private id: string | undefined;
  private event = "";
  private data: string[] = [];
  private retry: number | undefined;

  /** Rejects frames of more than `frameMax` bytes. */
  constructor(private readonly frameMax = FRAME_MAX) {}

  /**
   * Parses the next bytes and returns the completed frames.
   *
   * @throws BadStream if they are invalid; the parser cannot be used afterwards
   */
  feed(bytes: Uint8Array): SseFrame[] {
    const frames: SseFrame[] = [];
    let from = 0;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i];
      if (byte !== LF && byte !== CR) {
        this.afterReturn = false;
        continue;
      }
      this.keep(bytes, from, i);
      from = i + 1;
      if (byte === CR || !this.afterReturn) {
        this.endLine(frames);
      }
      this.afterReturn = byte === CR;
    }
    this.keep(bytes, from, bytes.length);
    return frames;
  }

  private keep(bytes: Uint8Array, from: number, to: number): void {
    if (to > from) {
      this.held += to - from;
      if (this.held > this.frameMax) {
        throw new BadStream(`the server sent a frame of more than ${this.frameMax} bytes`);
      }
      this.pieces.push(bytes.slice(from, to));
    }
  }

  private endLine(frames: SseFrame[]): void {
    const bytes = this.line();
    if (bytes.length === 0) {
      this.endFrame(frames);
    } else if (bytes[0] !== COLON) {
      this.field(this.decode(bytes));
    } else {
      this.held -= bytes.length;
    }
  }

  private line(): Uint8Array {
    const size = this.pieces.reduce((sum, piece) => sum + piece.length, 0);
    const line = new Uint8Array(size);
    let at = 0;
    for (const piece of this.pieces) {
      line.set(piece, at);
      at += piece.length;
    }
    this.pieces = [];
    if (this.atStart) {
      this.atStart = false;
      if (line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf) {
        return line.subarray(3);
      }
    }
    return line;
  }

  private field(text: string): void {
    const colon = text.indexOf(":");
    const name = colon < 0 ? text : text.slice(0, colon);
    let value = colon < 0 ? "" : text.slice(colon + 1);
    if (value.startsWith(" ")) {
      value = value.slice(1);
    }
    if (name === "data") {
      this.data.push(value);
    } else if (name === "event") {
      this.event = value;
    } else if (name === "id" && !value.includes("\0")) {
      this.id = value;
    } else if (name === "retry" && RETRY.test(value)) {
      this.retry = Number(value);
    } else {
      return; // The standard requires unknown fields to be ignored.
    }
    this.begun = true;
  }

  private endFrame(frames: SseFrame[]): void {
    if (this.begun) {
      frames.push({
        event: this.event === "" ? "message" : this.event,
        ...(this.id === undefined ? {} : { id: this.id }),
        ...(this.data.length === 0 ? {} : { data: this.data.join("\n") }),
        ...(this.retry === undefined ? {} : { retry: this.retry }),
      });
    }
    this.begun = false;
    this.held = 0;
    this.id = undefined;
    this.event = "";
    this.data = [];
    this.retry = undefined;
  }

  private decode(bytes: Uint8Array): string {
    try {
      return this.decoder.decode(bytes);
    } catch (malformed) {
      throw new BadStream("the server sent bytes that are not UTF-8", { cause: malformed });
    }
  }
}
