import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Answers one request: writes parts of the text, or rejects the request. */
export type ModelAnswer = (reply: ModelReply) => Promise<void>;

/** The response to one request of a model. */
export class ModelReply {
  constructor(private readonly response: ServerResponse) {}

  /** Rejects the request. */
  fail(status: number, message: string): void {
    this.response.writeHead(status, { "content-type": "application/json" });
    this.response.end(JSON.stringify({ error: { message } }));
  }

  /** Sends a part of the text. */
  write(content: string): void {
    this.chunk({ choices: [{ index: 0, delta: { content } }] });
  }

  /** Sends the end of the answer. */
  end(): void {
    this.chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    this.chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } });
    this.response.end("data: [DONE]\n\n");
  }

  private chunk(fields: Record<string, unknown>): void {
    if (!this.response.headersSent) {
      this.response.writeHead(200, { "content-type": "text/event-stream" });
    }
    const chunk = { id: "x", object: "chat.completion.chunk", model: "stand-in", ...fields };
    this.response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}

/** A model with the chat API of OpenAI, whose answers the test writes. */
export class ModelServer {
  /** Answers the next requests, in order; the last one answers all further requests. */
  answers: ModelAnswer[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ModelServer> {
    const server = createServer();
    const model = new ModelServer(server);
    server.on("request", (request, response) => {
      request.resume();
      const answer = model.answers.length > 1 ? model.answers.shift() : model.answers[0];
      void answer?.(new ModelReply(response));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // The process must end even if a test fails.
    server.unref();
    return model;
  }

  /** The configuration of a server with one agent that uses this model. */
  get config(): string {
    const { port } = this.server.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    return [
      "models:",
      `  default: {provider: openai, model: stand-in, baseUrl: "${baseUrl}", apiKey: none}`,
      "agents:",
      "  - {id: assistant, name: Assistant, model: default}",
      "",
    ].join("\n");
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
