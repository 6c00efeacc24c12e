import { ParleyError } from "./errors.js";

/** Where a server is, and who asks. */
export interface ApiOptions {
  /** Such as `http://localhost:7070`; empty for the server that the page came from. */
  readonly url?: string;
  /** A token for `Authorization: Bearer`. A page that has logged in with a cookie needs none. */
  readonly token?: string;
  /** For tests, and for pages that want to see every request. */
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

/** What stands behind the question mark; what is undefined is left out. */
export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** Sends requests, once each. */
export class Http {
  private readonly base: string;
  private readonly send: typeof fetch;

  constructor(private readonly options: ApiOptions = {}) {
    this.base = (options.url ?? "").replace(/\/+$/, "");
    this.send = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /**
   * The answer, if it is a success.
   *
   * @throws ParleyError if it is none, or there is none
   */
  async answer(call: Call): Promise<Response> {
    const response = await this.attempt(call);
    if (!response.ok) {
      throw await ParleyError.of(response);
    }
    return response;
  }

  /** The JSON of the answer. */
  async json<T>(call: Call): Promise<T> {
    const response = await this.answer(call);
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

/** A path with these ids in it, each made safe. */
export function path(pieces: TemplateStringsArray, ...ids: string[]): string {
  return pieces.reduce((sum, piece, i) => sum + encodeURIComponent(ids[i - 1] ?? "") + piece);
}

/** A key that nobody has used: for a request that may be sent twice but is to count once. */
export function newKey(): string {
  // Not randomUUID: browsers have that on secure pages only, and a page on a plain address is none.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
