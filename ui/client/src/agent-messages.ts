import type { ParleyApi } from "./api.js";
import { BACKOFF, type Backoff, type Clock, delay, SYSTEM_CLOCK } from "./clock.js";
import { ParleyError } from "./errors.js";
import type { Json, JsonObject } from "./events.js";
import { path } from "./http.js";
import { Store } from "./store.js";

/** Something that an agent said or did, as the agents door has it. */
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

/** What tells of messages as they happen. A socket of socket.io is one. */
export interface MessageSource {
  // Any: emitters say so themselves, and would not fit what is stricter.
  on(event: string, listener: (payload: any) => void): unknown;
  off(event: string, listener: (payload: any) => void): unknown;
  emit?(event: string, payload: unknown): unknown;
}

/** The messages of an agent with a number above `since`, in order. */
export type MessageLoader = (
  agentId: string,
  since: number,
  signal: AbortSignal,
) => Promise<readonly AgentMessage[]>;

/** What is to be shown. */
export interface AgentMessagesState {
  readonly agentId: string | null;
  /** In the order of their numbers, each once. The array is made when it is first read. */
  readonly messages: readonly AgentMessage[];
  readonly loading: boolean;
  readonly error: Error | null;
  /** Asks for everything again; what is shown stays until it has come. */
  readonly refetch: () => Promise<void>;
}

export interface AgentMessagesOptions {
  readonly backoff?: Backoff;
  /** After so many failures in a row, messages are shown although some before them are missing. */
  readonly attemptsMax?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
}

const ATTEMPTS_MAX = 8;
const PAGE = 1000;

/**
 * The messages of one agent, complete and in order: the history, then what happens, with what was
 * missed in between fetched.
 *
 * `MessageSource` says what happens, `MessageLoader` knows what happened. A live message that does
 * not follow the last one is kept until what lies before it was fetched; there is one fetch at a
 * time.
 */
export class AgentMessages extends Store<AgentMessagesState> {
  private readonly clock: Clock;
  private current = new AbortController();
  private ids = new Set<string>();
  private shown = new Snapshot([], 0);
  /** The agent that was subscribed to on this connection. */
  private subscribed: string | null = null;
  private last = 0;
  /** Live messages that have to wait: for the history, or for what lies before them. */
  private held: AgentMessage[] = [];
  private fetching: Promise<void> | undefined;
  /** Something came, or may have, since the last fetch began. */
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

  /** The highest number up to which nothing is missing. */
  get lastSequence(): number {
    return this.last;
  }

  /** Shows another agent, or none. What was shown before is forgotten. */
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

  /** Follows the agent from the last message that is known, so that nothing is sent twice. */
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

  /** All again, from the start. */
  async refetch(): Promise<void> {
    if (this.get().agentId === null) {
      return;
    }
    const { signal } = this.current;
    // A fetch that is under way may have begun before what is now asked for.
    await this.fetching;
    if (signal.aborted) {
      return; // Another agent is shown by now.
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

  /** A server that does not know `since` tells only what happens from now on. */
  private readonly confirmed = (payload: { agentId: string; messageCount?: number }): void => {
    if (payload.agentId === this.get().agentId && payload.messageCount === undefined) {
      this.lookAgain();
    }
  };

  /** Asks whether there is anything new. */
  private lookAgain(): void {
    this.look = true;
    void this.fetch();
  }

  private fetch(): Promise<void> {
    this.fetching ??= this.fill(this.current.signal);
    return this.fetching;
  }

  /** Fetches what is missing, until nothing is. */
  private async fill(signal: AbortSignal): Promise<void> {
    for (let failures = 0; ;) {
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
      const hopeless = failure instanceof ParleyError && !failure.passing;
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

  /** One fetch; gives the failure, if it fails. */
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

  /** Shows messages that waited and now follow the last one, or lie before it. */
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

  /** Shows what there is. `last` stays where it is, so the next message asks for the rest again. */
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
 * The first messages of a list that grows at its end. A message more costs the same however many
 * there are; the array that readers see is copied when they first read it.
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

  /** The same with these, in the order of their numbers. */
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

/** Loads messages from the agents door, a page at a time. */
export function messagesOf(api: ParleyApi): MessageLoader {
  return async (agentId, since, signal) => {
    const all: AgentMessage[] = [];
    for (let after = since; ;) {
      const response = await api.http.answer({
        path: path`/api/agents/${agentId}/messages`,
        query: { since: after, limit: PAGE },
        signal,
      });
      const page = (await response.json()) as AgentMessage[];
      for (const message of page) {
        all.push(message);
      }
      const end = page.at(-1)?.sequenceNumber;
      // A page of long messages may be a short one, and then says so.
      const more = page.length >= PAGE || /rel="?next/.test(response.headers.get("link") ?? "");
      if (!more || end === undefined || end <= after) {
        return all;
      }
      after = end;
    }
  };
}
