import type { Json } from "./events.js";
import type { TaskError } from "./types.js";

const TEXT_MAX = 500;

/** An RFC 9457 problem, with a machine-readable `code`. */
export interface Problem {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly instance?: string;
  readonly [name: string]: Json | undefined;
}

/**
 * A failed request. `status` is 0 if no server responded; `code` is machine-readable (such as
 * `not-found`, `busy`, `unreachable`), `message` is for people.
 */
export class ParleyError extends Error {
  override readonly name = "ParleyError";

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly problem: Problem = {},
    readonly retryAfterMs: number | undefined = undefined,
    options: ErrorOptions = {},
  ) {
    super(message, options);
  }

  /** True if the same request may succeed later. */
  get retryable(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  /** An error for a server that did not respond. */
  static unreachable(reason: unknown): ParleyError {
    const why = reason instanceof Error ? reason.message : String(reason);
    return new ParleyError(0, "unreachable", `cannot reach the server: ${why}`, {}, undefined, {
      cause: reason,
    });
  }

  /** The error of a response that is not a success. */
  static async of(response: Response): Promise<ParleyError> {
    const problem = parse(await response.text().catch(() => ""));
    const text = problem.detail ?? problem.title ?? `the server answered ${response.status}`;
    return new ParleyError(
      response.status,
      problem.code ?? "unknown",
      text.slice(0, TEXT_MAX),
      problem,
      retryAfter(response),
    );
  }
}

/**
 * True if a message was rejected, or a task failed, because its working directory is missing or no
 * longer allowed.
 */
export function isFolderError(error: Error | TaskError | undefined): boolean {
  if (error instanceof Error) {
    return error instanceof ParleyError && error.code === "invalid-working-directory";
  }
  // The error of a task has no code of its own for this.
  return error?.code === "invalid_input" && error.message.startsWith("workingDirectory ");
}

function parse(body: string): Problem {
  try {
    const json: unknown = JSON.parse(body);
    return typeof json === "object" && json !== null && !Array.isArray(json)
      ? checked(json as Problem)
      : {};
  } catch {
    return {}; // Possibly the error page of a proxy; the status is enough.
  }
}

function checked(problem: Problem): Problem {
  const texts = ["title", "detail", "code"] as const;
  const wrong = texts.filter((name) => typeof problem[name] !== "string");
  return Object.fromEntries(
    Object.entries(problem).filter(([name]) => !wrong.some((bad) => bad === name)),
  );
}

function retryAfter(response: Response): number | undefined {
  const text = response.headers.get("retry-after")?.trim() ?? "";
  return /^\d{1,6}$/.test(text) ? Number(text) * 1000 : undefined;
}
