import type { Json, JsonObject, ParleyEvent } from "./events.js";
import { type ApiOptions, Http, path, type Query } from "./http.js";
import type { Position } from "./position.js";
import type {
  Accepted,
  AgentTypeList,
  ArtifactInfo,
  ContextInfo,
  InboxItem,
  MessageInfo,
  NewMessage,
  Page,
  Resumed,
  RewindTarget,
  Rewound,
  Snapshot,
  TaskInfo,
  UsageInfo,
} from "./types.js";

/** Selects events; see "Events" in the guide to the native API. */
export interface EventFilter {
  readonly kinds?: readonly string[];
  readonly exclude?: readonly string[];
  readonly taskId?: string;
  readonly rootTaskId?: string;
  readonly parentTaskId?: string;
  readonly agentId?: string;
  readonly invocationId?: string;
  readonly verbosity?: "brief" | "normal" | "detailed";
  readonly thoughtTypes?: readonly string[];
  readonly minConfidence?: number;
  readonly internal?: boolean;
}

/** Options that most requests accept. */
export interface Options {
  readonly signal?: AbortSignal;
}

/** Options of requests that can be retried safely: the server applies each key once. */
export interface OnceOptions extends Options {
  readonly idempotencyKey?: string;
}

/** Selects a page of a list. */
export interface PageOptions extends Options {
  readonly limit?: number;
  readonly cursor?: string;
}

/**
 * The native API, one method per request. Requests are not retried; every rejection is a
 * `ParleyError`.
 */
export class ParleyApi {
  /** Sends the requests; streams use it too. */
  readonly http: Http;

  constructor(options: ApiOptions = {}) {
    this.http = new Http(options);
  }

  createContext(
    context: { contextId?: string; title?: string; metadata?: JsonObject } = {},
    options: OnceOptions = {},
  ): Promise<ContextInfo> {
    return this.post("/api/contexts", context, options);
  }

  contexts(options: PageOptions = {}): Promise<Page<ContextInfo>> {
    return this.list("/api/contexts", options);
  }

  context(contextId: string, options: Options = {}): Promise<ContextInfo> {
    return this.get(path`/api/contexts/${contextId}`, {}, options);
  }

  updateContext(
    contextId: string,
    change: { title?: string; metadata?: JsonObject },
    options: Options = {},
  ): Promise<ContextInfo> {
    const call = { method: "PATCH", path: path`/api/contexts/${contextId}`, body: change } as const;
    return this.http.json({ ...call, ...options });
  }

  async deleteContext(contextId: string, options: Options = {}): Promise<void> {
    await this.http.request({
      method: "DELETE",
      path: path`/api/contexts/${contextId}`,
      ...options,
    });
  }

  snapshot(
    contextId: string,
    options: Options & { at?: Position; messages?: number } = {},
  ): Promise<Snapshot> {
    const query = { at: options.at, messages: options.messages };
    return this.get(path`/api/contexts/${contextId}/snapshot`, query, options);
  }

  async usage(contextId: string, options: Options = {}): Promise<Page<UsageInfo>> {
    return this.get(path`/api/contexts/${contextId}/usage`, {}, options);
  }

  send(contextId: string, message: NewMessage, options: OnceOptions = {}): Promise<Accepted> {
    return this.post(path`/api/contexts/${contextId}/messages`, message, options);
  }

  /** Creates a context and sends its first message, in one request. */
  begin(message: NewMessage, options: OnceOptions = {}): Promise<Accepted> {
    return this.post("/api/messages", { message: { role: "user", ...message } }, options);
  }

  messages(
    contextId: string,
    options: Options & { limit?: number; after?: number | string } = {},
  ): Promise<Page<MessageInfo>> {
    const query = { limit: options.limit, after: options.after };
    return this.get(path`/api/contexts/${contextId}/messages`, query, options);
  }

  editMessage(
    contextId: string,
    messageId: string,
    content: string,
    options: Options = {},
  ): Promise<MessageInfo> {
    const at = path`/api/contexts/${contextId}/messages/${messageId}`;
    return this.http.json({ method: "PATCH", path: at, body: { content }, ...options });
  }

  async deleteMessage(contextId: string, messageId: string, options: Options = {}): Promise<void> {
    const at = path`/api/contexts/${contextId}/messages/${messageId}`;
    await this.http.request({ method: "DELETE", path: at, ...options });
  }

  events(
    contextId: string,
    options: Options & {
      after?: Position;
      limit?: number;
      filter?: EventFilter;
      /** Leaves out text that was deleted or edited since. */
      corrected?: boolean;
    } = {},
  ): Promise<{ events: ParleyEvent[]; position: Position; hasMore: boolean }> {
    const { after, limit, corrected } = options;
    const query = { after, limit, corrected, ...options.filter };
    return this.get(path`/api/contexts/${contextId}/events`, query, options);
  }

  tasks(contextId: string, options: PageOptions = {}): Promise<Page<TaskInfo>> {
    return this.list(path`/api/contexts/${contextId}/tasks`, options);
  }

  task(contextId: string, taskId: string, options: Options = {}): Promise<TaskInfo> {
    return this.get(path`/api/contexts/${contextId}/tasks/${taskId}`, {}, options);
  }

  cancelTask(contextId: string, taskId: string, options: Options = {}): Promise<TaskInfo> {
    return this.post(path`/api/contexts/${contextId}/tasks/${taskId}/cancel`, undefined, options);
  }

  async cancelTool(
    contextId: string,
    taskId: string,
    toolCallId: string,
    options: Options = {},
  ): Promise<void> {
    const at = path`/api/contexts/${contextId}/tasks/${taskId}/tools/${toolCallId}/cancel`;
    await this.http.request({ method: "POST", path: at, ...options });
  }

  contextOfTask(
    taskId: string,
    options: Options = {},
  ): Promise<{ contextId: string; taskId: string }> {
    return this.get(path`/api/task-lookup/${taskId}`, {}, options);
  }

  answer(
    contextId: string,
    inputId: string,
    value: Json,
    options: OnceOptions = {},
  ): Promise<{ contextId: string; inputId: string; seq: number }> {
    return this.post(path`/api/contexts/${contextId}/inputs/${inputId}`, { value }, options);
  }

  signIn(
    contextId: string,
    authId: string,
    secret: { credential: string } | { jwe: string } | { skipped: true },
    options: OnceOptions = {},
  ): Promise<{ contextId: string; authId: string; seq: number }> {
    return this.post(path`/api/contexts/${contextId}/auths/${authId}`, secret, options);
  }

  resume(
    contextId: string,
    answers: {
      inputs: { inputId: string; value: Json }[];
      credentials: ({ authId: string } & ({ credential: string } | { jwe: string }))[];
    },
    options: OnceOptions = {},
  ): Promise<Resumed> {
    return this.post(path`/api/contexts/${contextId}/resume`, answers, options);
  }

  inbox(options: PageOptions = {}): Promise<Page<InboxItem>> {
    return this.list("/api/inbox", options);
  }

  artifacts(contextId: string, options: PageOptions = {}): Promise<Page<ArtifactInfo>> {
    return this.list(path`/api/contexts/${contextId}/artifacts`, options);
  }

  artifact(
    contextId: string,
    artifactId: string,
    options: Options & { version?: number } = {},
  ): Promise<ArtifactInfo> {
    const at = path`/api/contexts/${contextId}/artifacts/${artifactId}`;
    return this.get(at, { version: options.version }, options);
  }

  /** The raw content: `text()`, `json()`, `blob()` or a stream of bytes. */
  artifactContent(
    contextId: string,
    artifactId: string,
    options: Options & { version?: number } = {},
  ): Promise<Response> {
    const at = path`/api/contexts/${contextId}/artifacts/${artifactId}/content`;
    const headers = { accept: "*/*" };
    const query = { version: options.version };
    return this.http.request({ path: at, query, headers, ...signalOf(options) });
  }

  writeArtifact(
    contextId: string,
    artifactId: string,
    content: ({ text: string } | { data: string | JsonObject }) & {
      expectedVersion?: number;
      name?: string;
      mimeType?: string;
    },
    options: Options = {},
  ): Promise<ArtifactInfo> {
    const at = path`/api/contexts/${contextId}/artifacts/${artifactId}`;
    return this.http.json({ method: "PUT", path: at, body: content, ...options });
  }

  rewind(contextId: string, target: RewindTarget, options: OnceOptions = {}): Promise<Rewound> {
    return this.post(path`/api/contexts/${contextId}/rewind`, target, options);
  }

  /** Goes back and says something there, in one step. */
  rewindAndSend(
    contextId: string,
    target: RewindTarget,
    message: NewMessage,
    options: OnceOptions = {},
  ): Promise<Accepted> {
    return this.post(path`/api/contexts/${contextId}/rewind`, { ...target, message }, options);
  }

  fork(
    contextId: string,
    fork: { atSeq?: number; contextId?: string; title?: string } = {},
    options: OnceOptions = {},
  ): Promise<ContextInfo> {
    return this.post(path`/api/contexts/${contextId}/fork`, fork, options);
  }

  agentTypes(options: Options = {}): Promise<AgentTypeList> {
    return this.get("/api/agent-types", {}, options);
  }

  private get<T>(at: string, query: Query, options: Options): Promise<T> {
    return this.http.json({ path: at, query, ...signalOf(options) });
  }

  private list<T>(at: string, options: PageOptions): Promise<Page<T>> {
    return this.get(at, { limit: options.limit, cursor: options.cursor }, options);
  }

  private post<T>(at: string, body: unknown, options: OnceOptions): Promise<T> {
    return this.http.json({ method: "POST", path: at, body, ...options });
  }
}

function signalOf(options: Options): { signal?: AbortSignal } {
  return options.signal === undefined ? {} : { signal: options.signal };
}
