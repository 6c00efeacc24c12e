import type { ParleyApi } from "../api.js";
import { BACKOFF, type Backoff, type Clock, delay, SYSTEM_CLOCK } from "../clock.js";
import { ParleyError } from "../errors.js";
import type { Json, JsonObject } from "../events.js";
import { path } from "../http.js";
import { Store } from "../store.js";

/** A message of an agent, as the agents API returns it. */
export interface AgentMessage {
  readonly id: string;
  readonly agentId: string;
  readonly sequenceNumber: number;
  readonly type: string;
  readonly role?: string | null;
  readonly content: Json;
  readonly raw?: Json;
  readonly metadata?: JsonObject | null;
  readonly createdAt: string;
}

/** A source of live messages, such as a Socket.IO socket. */
export interface MessageSource {
  // biome-ignore lint/suspicious/noExplicitAny: event emitters declare their listeners so.
  on(event: string, listener: (payload: any) => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: event emitters declare their listeners so.
  off(event: string, listener: (payload: any) => void): unknown;
  emit?(event: string, payload: unknown): unknown;
}

/** The messages of an agent with a number above `since`, in order. */
export type MessageLoader = (
  agentId: string,
  since: number,
  signal: AbortSignal,
) => Promise<readonly AgentMessage[]>;

/** The state to show. */
export interface AgentMessagesState {
  readonly agentId: string | null;
  /**
   * In the order of their numbers, without duplicates. The array is created when it is first read.
   */
  readonly messages: readonly AgentMessage[];
  readonly loading: boolean;
  readonly error: Error | null;
  /** Loads everything again. The current messages stay until the response arrives. */
  readonly refetch: () => Promise<void>;
}

export interface AgentMessagesOptions {
  readonly backoff?: Backoff;
  /**
   * The number of consecutive failures after which messages are shown despite a gap before them.
   */
  readonly attemptsMax?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
}

const ATTEMPTS_MAX = 8;
const PAGE = 1000;

/**
 * The messages of one agent, complete and in order: first the history, then live messages. Missing
 * messages are fetched.
 *
 * `MessageSource` delivers live messages, `MessageLoader` loads stored ones. A live message that
 * does not follow the last one is held until the messages before it are loaded. Only one fetch runs
 * at a time.
 */
export class AgentMessages extends Store<AgentMessagesState> {
  private readonly clock: Clock;
  private current = new AbortController();
  private ids = new Set<string>();
  private shown = new Snapshot([], 0);
  /** The agent with a subscription on this connection. */
  private subscribed: string | null = null;
  private last = 0;
  /** Live messages that wait for the history or for the messages before them. */
  private held: AgentMessage[] = [];
  private fetching: Promise<void> | undefined;
  /** True if a message arrived since the last fetch began. */
  private news = false;
  private look = false;

  constructor(
    private readonly load: MessageLoader,
    private readonly source: MessageSource,
    private readonly options: AgentMessagesOptions = {},
  ) {
    super({
      agentId: null,
      messages: [],
      loading: false,
      error: null,
      refetch: async () => undefined,
    });
    this.set({ ...this.get(), refetch: () => this.refetch() });
    this.clock = options.clock ?? SYSTEM_CLOCK;
    source.on("agent:message", this.heard);
    source.on("agent:gap", this.gap);
    source.on("connect", this.connected);
    source.on("subscribed", this.confirmed);
  }

  /** The highest number without a gap before it. */
  get lastSequence(): number {
    return this.last;
  }

  /** Selects another agent, or none, and discards the messages of the previous one. */
  select(agentId: string | null): void {
    const before = this.get().agentId;
    if (before !== null) {
      this.source.emit?.("unsubscribe", { agentId: before });
    }
    this.current.abort();
    this.current = new AbortController();
    this.forget();
    this.fetching = undefined;
    this.change({ agentId, loading: agentId !== null, error: null });
    if (agentId !== null) {
      void this.fetch();
    }
  }

  /** Subscribes from the last known message, so that no message is sent twice. */
  private follow(): void {
    const agentId = this.get().agentId;
    if (agentId !== null && this.subscribed !== agentId) {
      this.subscribed = agentId;
      this.source.emit?.("subscribe", { agentId, since: this.last });
    }
  }

  close(): void {
    this.select(null);
    this.source.off("agent:message", this.heard);
    this.source.off("agent:gap", this.gap);
    this.source.off("connect", this.connected);
    this.source.off("subscribed", this.confirmed);
  }

  /** Loads all messages again. */
  async refetch(): Promise<void> {
    if (this.get().agentId === null) {
      return;
    }
    const { signal } = this.current;
    // A running fetch may have started before this request.
    await this.fetching;
    if (signal.aborted) {
      return; // Another agent was selected meanwhile.
    }
    this.last = 0;
    this.change({ loading: true, error: null });
    await this.fetch();
  }

  private readonly heard = (payload: { agentId: string; message: AgentMessage }): void => {
    if (payload.agentId !== this.get().agentId || this.ids.has(payload.message.id)) {
      return;
    }
    const message = payload.message;
    if (this.get().loading || message.sequenceNumber > this.last + 1) {
      this.held.push(message);
      this.news = true;
      void this.fetch();
      return;
    }
    this.merge([message]);
    this.last = Math.max(this.last, message.sequenceNumber);
    this.releaseNext();
  };

  private readonly gap = (payload: { agentId: string }): void => {
    if (payload.agentId === this.get().agentId) {
      this.lookAgain();
    }
  };

  private readonly connected = (): void => {
    this.subscribed = null;
    if (this.get().agentId !== null && !this.get().loading) {
      this.follow();
      this.lookAgain();
    }
  };

  /** A server that does not support `since` sends only new messages. */
  private readonly confirmed = (payload: { agentId: string; messageCount?: number }): void => {
    if (payload.agentId === this.get().agentId && payload.messageCount === undefined) {
      this.lookAgain();
    }
  };

  /** Checks for new messages. */
  private lookAgain(): void {
    this.look = true;
    void this.fetch();
  }

  private fetch(): Promise<void> {
    this.fetching ??= this.fill(this.current.signal);
    return this.fetching;
  }

  /** Fetches until no message is missing. */
  private async fill(signal: AbortSignal): Promise<void> {
    for (let failures = 0; ; ) {
      this.news = false;
      this.look = false;
      const failure = await this.attempt(signal);
      if (signal.aborted) {
        return;
      }
      if (failure === undefined && !this.missing() && !this.look) {
        break;
      }
      failures = failure === undefined && (this.news || this.look) ? 0 : failures + 1;
      const hopeless = failure instanceof ParleyError && !failure.retryable;
      if (hopeless || failures >= (this.options.attemptsMax ?? ATTEMPTS_MAX)) {
        this.giveUp(failure);
        break;
      }
      if (failures > 0) {
        const random = this.options.random ?? Math.random;
        const wait = delay(this.options.backoff ?? BACKOFF, failures, undefined, random);
        await this.clock.sleep(wait, signal);
        if (signal.aborted) {
          return;
        }
      }
    }
    this.fetching = undefined;
  }

  /** Fetches once; returns the error, if any. */
  private async attempt(signal: AbortSignal): Promise<Error | undefined> {
    const agentId = this.get().agentId;
    if (agentId === null) {
      return undefined;
    }
    try {
      const since = this.last;
      const fetched = await this.load(agentId, since, signal);
      if (!signal.aborted) {
        this.take(fetched.filter((one) => one.agentId === agentId));
      }
      return undefined;
    } catch (failure) {
      const error = failure instanceof Error ? failure : new Error(String(failure));
      if (!signal.aborted) {
        this.change({ error });
      }
      return error;
    }
  }

  private take(fetched: readonly AgentMessage[]): void {
    this.merge(fetched);
    this.last = fetched.reduce((last, one) => Math.max(last, one.sequenceNumber), this.last);
    this.change({ loading: false, error: null });
    this.releaseNext();
    this.follow();
  }

  /** Releases held messages that now follow the last one. */
  private releaseNext(): void {
    this.held.sort((a, b) => a.sequenceNumber - b.sequenceNumber);
    const due: AgentMessage[] = [];
    for (const message of this.held) {
      if (message.sequenceNumber > this.last + 1) {
        break;
      }
      due.push(message);
      this.last = Math.max(this.last, message.sequenceNumber);
    }
    if (due.length > 0) {
      this.held = this.held.slice(due.length);
      this.merge(due);
    }
  }

  private missing(): boolean {
    return this.held.length > 0 || this.get().loading;
  }

  /**
   * Shows the held messages despite the gap. `last` is unchanged, so the next message triggers
   * another fetch.
   */
  private giveUp(failure: Error | undefined): void {
    const waited = this.held;
    this.held = [];
    this.merge(waited);
    const error = failure ?? new Error(`messages after ${this.last} are missing`);
    this.change({ loading: false, error });
    this.follow();
  }

  private merge(more: readonly AgentMessage[]): void {
    const fresh = more.filter((one) => {
      const known = this.ids.has(one.id);
      this.ids.add(one.id);
      return !known;
    });
    if (fresh.length > 0) {
      this.shown = this.shown.with(fresh);
      this.change({});
    }
  }

  private forget(): void {
    this.ids = new Set();
    this.shown = new Snapshot([], 0);
    this.subscribed = null;
    this.last = 0;
    this.held = [];
  }

  private change(change: Partial<Omit<AgentMessagesState, "messages">>): void {
    const { agentId, loading, error, refetch } = this.get();
    const shown = this.shown;
    this.set({
      agentId,
      loading,
      error,
      refetch,
      ...change,
      get messages() {
        return shown.messages();
      },
    });
  }
}

/**
 * The first messages of a growing list. Appending takes constant time; the array is copied when it
 * is first read.
 */
class Snapshot {
  private copy: readonly AgentMessage[] | undefined;

  constructor(
    private readonly list: AgentMessage[],
    private readonly length: number,
  ) {}

  messages(): readonly AgentMessage[] {
    this.copy ??= this.list.slice(0, this.length);
    return this.copy;
  }

  /** Adds messages in the order of their numbers. */
  with(fresh: readonly AgentMessage[]): Snapshot {
    let end = this.list[this.length - 1]?.sequenceNumber ?? 0;
    let follow = this.list.length === this.length;
    for (const message of fresh) {
      follow &&= message.sequenceNumber > end;
      end = message.sequenceNumber;
    }
    if (!follow) {
      const all = this.list.slice(0, this.length).concat(fresh);
      all.sort((a, b) => a.sequenceNumber - b.sequenceNumber);
      return new Snapshot(all, all.length);
    }
    for (const message of fresh) {
      this.list.push(message);
    }
    return new Snapshot(this.list, this.list.length);
  }
}

/** Loads messages from the agents API, page by page. */
export function messagesOf(api: ParleyApi): MessageLoader {
  return async (agentId, since, signal) => {
    const all: AgentMessage[] = [];
    for (let after = since; ; ) {
      const response = await api.http.request({
        path: path`/api/agents/${agentId}/messages`,
        query: { since: after, limit: PAGE },
        signal,
      });
      const page = (await response.json()) as AgentMessage[];
      for (const message of page) {
        all.push(message);
      }
      const end = page.at(-1)?.sequenceNumber;
      // A page of long messages can be short; its Link header then names the next page.
      const more = page.length >= PAGE || /rel="?next/.test(response.headers.get("link") ?? "");
      if (!more || end === undefined || end <= after) {
        return all;
      }
      after = end;
    }
  };
}
