import type { Json } from "./events.js";

const TEXT_MAX = 500;

/** What a server says when it refuses: RFC 9457, with a `code` for programs. */
export interface Problem {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly instance?: string;
  readonly [name: string]: Json | undefined;
}

/**
 * A request did not succeed. `status` is 0 if no server answered; `code` is for programs (such as
 * `not-found`, `busy`, `unreachable`), `message` for people.
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
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  /** No server answered, or the connection broke. */
  static unreachable(reason: unknown): ParleyError {
    const why = reason instanceof Error ? reason.message : String(reason);
    return new ParleyError(0, "unreachable", `no answer from the server: ${why}`, {}, undefined, {
      cause: reason,
    });
  }

  /** What an answer that is no success says. */
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

function parse(body: string): Problem {
  try {
    const json: unknown = JSON.parse(body);
    return typeof json === "object" && json !== null && !Array.isArray(json)
      ? checked(json as Problem)
      : {};
  } catch {
    return {}; // A proxy's page, perhaps: the status says enough.
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
