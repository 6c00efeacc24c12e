import type { ParleyApi } from "./api.js";
import type { ParleyEvent } from "./events.js";
import { newKey, path } from "./http.js";
import { Connection } from "./connection.js";
import { BACKOFF, delay, SYSTEM_CLOCK } from "./clock.js";
import { ParleyError } from "./errors.js";
import {
  contextOpener,
  EventStream,
  type Opener,
  type StreamedEvent,
  type StreamOptions,
} from "./stream.js";
import type { Accepted, NewMessage, TaskState } from "./types.js";

const OPENING_MS = 30_000;
const FAILURES_MAX = 3;

/** How to send, and how to read what comes of it. */
export interface FollowOptions extends Omit<StreamOptions, "after" | "filter"> {
  /** Made up if it is missing: the message may have to be sent twice, and is to count once. */
  readonly idempotencyKey?: string;
}

/**
 * What becomes of one message: the events of its task and of every task below it, to the last.
 *
 * Read it with `for await`, once. Closing it stops nothing but the reading.
 */
export class TaskStream implements AsyncIterable<StreamedEvent> {
  private end: TaskState | undefined;

  private constructor(
    /** The ids that the server gave the message and its task. */
    readonly accepted: Accepted,
    private readonly events: EventStream,
  ) {}

  /**
   * Says something, and reads the answer from the same connection as long as that lasts.
   *
   * @throws ParleyError if the server refuses the message, or does not answer
   */
  static async send(
    api: ParleyApi,
    contextId: string,
    message: NewMessage,
    options: FollowOptions = {},
  ): Promise<TaskStream> {
    const idempotencyKey = options.idempotencyKey ?? newKey();
    const leave = new AbortController();
    options.signal?.addEventListener("abort", () => leave.abort(), { once: true });
    const { accepted, rest } = await patiently(options, async () => {
      const response = await api.http.answer({
        method: "POST",
        path: path`/api/contexts/${contextId}/messages`,
        body: message,
        idempotencyKey,
        headers: { accept: "text/event-stream" },
        signal: leave.signal,
      });
      return opening(response, options);
    });
    const streamOptions = {
      ...options,
      after: accepted.seq,
      filter: { rootTaskId: accepted.taskId },
    };
    const again = contextOpener(api, accepted.contextId, streamOptions);
    let first: Response | undefined = rest;
    const open: Opener = (after, signal) => {
      const response = first;
      first = undefined;
      if (response === undefined) {
        return again(after, signal);
      }
      signal.addEventListener("abort", () => leave.abort(), { once: true });
      return Promise.resolve(response);
    };
    return new TaskStream(accepted, new EventStream(open, streamOptions));
  }

  /** How the task ended, once the last event was read. */
  get outcome(): TaskState | undefined {
    return this.end;
  }

  get state(): EventStream["state"] {
    return this.events.state;
  }

  close(): void {
    this.events.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamedEvent, void, undefined> {
    for await (const event of this.events) {
      this.end = outcome(event, this.accepted.taskId);
      yield event;
      if (this.end !== undefined) {
        return;
      }
    }
  }

  /** Reads to the end; what the task said. */
  async text(): Promise<string> {
    let said = "";
    let answer: string | undefined;
    for await (const event of this) {
      if (event.taskId === this.accepted.taskId) {
        said += event.kind === "content-delta" ? event.delta : "";
        answer = event.kind === "task-complete" ? event.content : answer;
      }
    }
    return answer ?? said;
  }
}

/** How `event` ends the task, if it does. */
function outcome(event: ParleyEvent, taskId: string): TaskState | undefined {
  if (event.taskId !== taskId) {
    return undefined;
  }
  if (event.kind === "task-complete") {
    return "completed";
  }
  const ends = event.kind === "task-status" && ["failed", "canceled"].includes(event.status);
  return ends ? event.status : undefined;
}

/** Tries again what may succeed later; the key makes that safe. */
async function patiently<T>(options: FollowOptions, attempt: () => Promise<T>): Promise<T> {
  const clock = options.clock ?? SYSTEM_CLOCK;
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (failure) {
      const passing = failure instanceof ParleyError && failure.passing;
      if (!passing || failures > (options.failuresMax ?? FAILURES_MAX)) {
        throw failure;
      }
      const random = options.random ?? Math.random;
      const wait = delay(options.backoff ?? BACKOFF, failures, failure.retryAfterMs, random);
      await clock.sleep(wait, options.signal);
      if (options.signal?.aborted === true) {
        throw failure;
      }
    }
  }
}

/** Reads the ids that a task's stream begins with; `rest` is the same stream, unread. */
async function opening(
  response: Response,
  options: FollowOptions,
): Promise<{ accepted: Accepted; rest: Response }> {
  if (response.body === null) {
    throw new ParleyError(response.status, "bad-answer", "the server did not answer with a stream");
  }
  const [head, rest] = response.body.tee();
  const connection = new Connection(head, options.clock ?? SYSTEM_CLOCK);
  try {
    const frame = await connection.next(OPENING_MS);
    const fields = JSON.parse(frame?.data ?? "{}") as Accepted;
    const { contextId, messageId, taskId, seq } = fields;
    if (typeof taskId !== "string" || typeof seq !== "number") {
      throw new ParleyError(response.status, "bad-answer", "the stream does not say what it is of");
    }
    const accepted = { contextId, messageId, taskId, seq };
    return { accepted, rest: new Response(rest, { headers: response.headers }) };
  } catch (failure) {
    throw failure instanceof ParleyError ? failure : ParleyError.unreachable(failure);
  } finally {
    connection.close();
  }
}
