import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ParleyEvent } from "@parley/client";

interface Build {
  committed(): Map<string, Buffer>;
}
const { committed } = (await import(
  new URL("../../tools/build.mjs", import.meta.url).href
)) as Build;

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript",
  css: "text/css",
  svg: "image/svg+xml",
};

/**
 * Serves the page and a recorded log up to a chosen event. Implements only what reading a context
 * needs.
 */
export class Replay {
  private readonly files = committed();
  private readonly server: Server;
  private readonly streams = new Set<{ response: ServerResponse; sent: number }>();
  private end = 0;

  private constructor(
    readonly contextId: string,
    private readonly events: readonly ParleyEvent[],
    private readonly agents: unknown,
  ) {
    this.server = createServer((request, response) => this.answer(request, response));
  }

  static async start(
    contextId: string,
    events: readonly ParleyEvent[],
    agents: unknown,
  ): Promise<Replay> {
    const replay = new Replay(contextId, events, agents);
    await new Promise<void>((resolve) => replay.server.listen(0, "127.0.0.1", resolve));
    return replay;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Advances the log and sends the new events to all streams. */
  advance(end: number): void {
    this.end = end;
    for (const stream of this.streams) {
      this.send(stream);
    }
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", this.url);
    const context = `/api/contexts/${this.contextId}`;
    if (url.pathname === `${context}/stream`) {
      this.follow(request, response);
    } else if (url.pathname === context) {
      const position = positionOf(this.events[this.end - 1]);
      json(response, { contextId: this.contextId, position });
    } else if (url.pathname === "/api/agent-types") {
      json(response, this.agents);
    } else if (url.pathname.startsWith("/api/")) {
      json(response, { items: [] });
    } else {
      const name = url.pathname === "/" ? "index.html" : url.pathname.slice(1);
      response.setHeader("content-type", TYPES[name.split(".").at(-1) ?? ""] ?? "text/plain");
      response.end(this.files.get(name) ?? "");
    }
  }

  private follow(request: IncomingMessage, response: ServerResponse): void {
    const after = String(request.headers["last-event-id"] ?? "0");
    const sent = this.events.findIndex((event) => positionOf(event) === after) + 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const open = { kind: "stream-open", heartbeatMs: 0, position: after };
    response.write(`id: ${after}\nevent: stream-open\ndata: ${JSON.stringify(open)}\n\n`);
    const stream = { response, sent };
    this.streams.add(stream);
    response.once("close", () => this.streams.delete(stream));
    this.send(stream);
  }

  private send(stream: { response: ServerResponse; sent: number }): void {
    const news = this.events.slice(stream.sent, this.end);
    stream.sent = Math.max(stream.sent, this.end);
    stream.response.write(
      news
        .map((event) => {
          const name = event.kind.replace("internal:", "");
          return `id: ${positionOf(event)}\nevent: ${name}\ndata: ${JSON.stringify(event)}\n\n`;
        })
        .join(""),
    );
  }
}

/** The position of an event on the wire. */
export function positionOf(event: ParleyEvent | undefined): string {
  return event === undefined ? "0" : `${event.seq}${event.k === undefined ? "" : `.${event.k}`}`;
}

function json(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(value));
}
