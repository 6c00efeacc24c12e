import { ParleyError } from "./errors.js";

/** The address of a server and the caller's credentials. */
export interface ApiOptions {
  /** For example `http://localhost:7070`; empty for the server that serves the page. */
  readonly url?: string;
  /** A token for `Authorization: Bearer`. Not needed if the page uses a session cookie. */
  readonly token?: string;
  /** For tests, and to intercept requests. */
  readonly fetch?: typeof fetch;
}

/** One request. */
export interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Query parameters; undefined values are left out. */
export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** Sends each request once. */
export class Http {
  private readonly base: string;
  private readonly send: typeof fetch;

  constructor(private readonly options: ApiOptions = {}) {
    this.base = (options.url ?? "").replace(/\/+$/, "");
    this.send = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /**
   * Sends a request and returns the response.
   *
   * @throws ParleyError if the request fails or the status is not a success
   */
  async request(call: Call): Promise<Response> {
    const response = await this.attempt(call);
    if (!response.ok) {
      throw await ParleyError.of(response);
    }
    return response;
  }

  /** Sends a request and returns the JSON of the response. */
  async json<T>(call: Call): Promise<T> {
    const response = await this.request(call);
    try {
      return (await response.json()) as T;
    } catch (failure) {
      if (call.signal?.aborted === true) {
        throw failure;
      }
      const what = `${call.path} was not answered with JSON: is this a Parley server?`;
      throw new ParleyError(response.status, "bad-answer", what, {}, undefined, { cause: failure });
    }
  }

  private async attempt(call: Call): Promise<Response> {
    const headers: Record<string, string> = { accept: "application/json", ...call.headers };
    if (call.body !== undefined) {
      headers["content-type"] = "application/json";
    }
    if (call.idempotencyKey !== undefined) {
      headers["idempotency-key"] = call.idempotencyKey;
    }
    if (this.options.token !== undefined) {
      headers["authorization"] = `Bearer ${this.options.token}`;
    }
    try {
      return await this.send(this.base + call.path + search(call.query ?? {}), {
        method: call.method ?? "GET",
        headers,
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        ...(call.signal === undefined ? {} : { signal: call.signal }),
      });
    } catch (failure) {
      if (call.signal?.aborted === true) {
        throw failure;
      }
      throw ParleyError.unreachable(failure);
    }
  }
}

function search(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      parameters.set(name, Array.isArray(value) ? value.join(",") : String(value));
    }
  }
  return parameters.size === 0 ? "" : `?${parameters}`;
}

/** Builds a path with encoded ids. */
export function path(pieces: TemplateStringsArray, ...ids: string[]): string {
  return pieces.reduce((sum, piece, i) => sum + encodeURIComponent(ids[i - 1] ?? "") + piece);
}

/** Creates a unique idempotency key. */
export function newKey(): string {
  // Not `randomUUID`: browsers offer it only in secure contexts.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
