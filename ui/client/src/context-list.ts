import type { ParleyApi } from "./api.js";
import { type Clock, SYSTEM_CLOCK } from "./clock.js";
import { Store } from "./store.js";
import type { AgentTypeInfo, ContextInfo, InboxItem } from "./types.js";

/** The contexts, the inbox and the agents that the caller can see. */
export interface ContextListState {
  readonly contexts: readonly ContextInfo[];
  /** All contexts loaded so far, during a search. */
  readonly searched: readonly ContextInfo[];
  /** True while more contexts are loading. */
  readonly searching: boolean;
  readonly inbox: readonly InboxItem[];
  readonly agents: readonly AgentTypeInfo[];
  readonly loading: boolean;
  /** True if there are more contexts. */
  readonly more: boolean;
  /** The error of the last request; earlier data stays. */
  readonly error: Error | undefined;
}

export interface ContextListOptions {
  /** The polling interval. */
  readonly everyMs?: number;
  /** The additional delay while paused. */
  readonly seldomMs?: number;
  readonly clock?: Clock;
}

/** Contexts, grouped by what they need from the user. */
export interface ContextGroups {
  readonly needsYou: readonly ContextInfo[];
  readonly running: readonly ContextInfo[];
  readonly done: readonly ContextInfo[];
}

const EVERY_MS = 3_000;
const SELDOM_MS = 30_000;
const SOON_MS = 300;
const PAGE = 200;
const SEARCHED_PAGE = 1_000;
/** The maximum number of contexts to search, most recently changed first. */
const SEARCHED_MAX = 20_000;

/** All contexts that the caller may see, kept up to date by polling. */
export class ContextList extends Store<ContextListState> {
  private readonly closing = new AbortController();
  private delayAbort = new AbortController();
  private wanted = PAGE;
  private soon = false;
  private paused = false;
  private search: AbortController | undefined;

  constructor(
    private readonly api: ParleyApi,
    private readonly options: ContextListOptions = {},
  ) {
    super({
      contexts: [],
      searched: [],
      searching: false,
      inbox: [],
      agents: [],
      loading: true,
      more: false,
      error: undefined,
    });
    void this.run();
  }

  close(): void {
    this.closing.abort();
    this.delayAbort.abort();
    this.search?.abort();
  }

  /** Polls now and again shortly afterwards. Call it after a change. */
  refresh(): void {
    this.soon = true;
    this.delayAbort.abort();
    if (this.search !== undefined) {
      this.readAll();
    }
  }

  /** Polls rarely until `resume`, for hidden pages whose title still shows the inbox count. */
  pause(): void {
    this.paused = true;
  }

  /** Polls immediately and leaves the paused state. */
  resume(): void {
    this.paused = false;
    this.refresh();
  }

  /** Loads all contexts, not only the listed ones, during a search. */
  setSearching(wanted: boolean): void {
    if (wanted && this.search === undefined) {
      this.readAll();
    } else if (!wanted && this.search !== undefined) {
      this.search.abort();
      this.search = undefined;
      this.change({ searched: [], searching: false });
    }
  }

  /** Lists more contexts. */
  loadMore(): void {
    this.wanted += PAGE;
    this.refresh();
  }

  private async run(): Promise<void> {
    const clock = this.options.clock ?? SYSTEM_CLOCK;
    while (!this.closing.signal.aborted) {
      this.delayAbort = new AbortController();
      const soon = this.soon;
      this.soon = false;
      await this.load();
      const everyMs = this.options.everyMs ?? EVERY_MS;
      // The server updates lists shortly after the log.
      await clock.sleep(soon ? Math.min(SOON_MS, everyMs) : everyMs, this.delayAbort.signal);
      if (this.paused) {
        await clock.sleep(this.options.seldomMs ?? SELDOM_MS, this.delayAbort.signal);
      }
    }
  }

  private async load(): Promise<void> {
    const signal = this.closing.signal;
    try {
      const known = this.get().agents;
      const [{ contexts, more }, inbox, agents] = await Promise.all([
        this.contexts(),
        this.api.inbox({ signal, limit: 1_000 }),
        known.length > 0 ? { items: [...known] } : this.api.agentTypes({ signal }),
      ]);
      const next = { contexts, inbox: inbox.items, agents: agents.items, more };
      this.change({ ...next, loading: false, error: undefined });
    } catch (failure) {
      const error = failure instanceof Error ? failure : new Error(String(failure));
      this.change({ loading: false, error });
    }
  }

  private readAll(): void {
    this.search?.abort();
    this.search = new AbortController();
    void this.read(this.search.signal);
  }

  private async read(signal: AbortSignal): Promise<void> {
    const read: ContextInfo[] = [];
    let cursor: string | undefined;
    this.change({ searching: true });
    do {
      try {
        const next = cursor === undefined ? {} : { cursor };
        const page = await this.api.contexts({ signal, limit: SEARCHED_PAGE, ...next });
        read.push(...page.items);
        cursor = page.nextCursor;
      } catch {
        // The polled list reports the error.
        await (this.options.clock ?? SYSTEM_CLOCK).sleep(this.options.everyMs ?? EVERY_MS, signal);
        continue;
      }
      const done = cursor === undefined || read.length >= SEARCHED_MAX;
      if (!signal.aborted && (done || read.length > this.get().searched.length)) {
        this.change({ searched: [...read], searching: !done });
      }
    } while (!signal.aborted && this.get().searching);
  }

  private async contexts(): Promise<{ contexts: ContextInfo[]; more: boolean }> {
    const contexts: ContextInfo[] = [];
    let cursor: string | undefined;
    do {
      const next = cursor === undefined ? {} : { cursor };
      const page = await this.api.contexts({ signal: this.closing.signal, limit: PAGE, ...next });
      contexts.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined && contexts.length < this.wanted);
    return { contexts, more: cursor !== undefined };
  }

  /** Ignores updates without a change, to avoid a redraw. */
  private change(change: Partial<ContextListState>): void {
    const before = this.get();
    const after = { ...before, ...change };
    const summary = ({ error, agents: _, searched: __, ...rest }: ContextListState): string =>
      JSON.stringify([error?.message, rest]);
    const same = before.searched === after.searched && summary(before) === summary(after);
    if (!same && !this.closing.signal.aborted) {
      this.set(after);
    }
  }
}

/** Groups contexts by what they need, in their order; with `words`, only those that match. */
export function groupsOf(state: ContextListState, words = ""): ContextGroups {
  const waiting = new Set(state.inbox.map((item) => item.contextId));
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const searched = wanted.length === 0 ? [] : state.searched;
  const all = new Map<string, ContextInfo>();
  // Contexts that wait for a person are included even if they are not in the loaded pages.
  for (const one of [...state.contexts, ...searched, ...state.inbox.map(waitingContext)]) {
    if (!all.has(one.contextId)) {
      all.set(one.contextId, one);
    }
  }
  const found = [...all.values()].filter((one) => {
    const text = `${titleOf(one)} ${one.contextId}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  return {
    needsYou: found.filter((one) => waiting.has(one.contextId)),
    running: found.filter((one) => !waiting.has(one.contextId) && one.openTasks > 0),
    done: found.filter((one) => !waiting.has(one.contextId) && one.openTasks === 0),
  };
}

/** The context of an inbox item, as far as the item describes it. */
function waitingContext({ contextId, title, timestamp, seq }: InboxItem): ContextInfo {
  return {
    contextId,
    ...(title === undefined ? {} : { title }),
    owner: "",
    createdAt: timestamp,
    updatedAt: timestamp,
    position: seq,
    messageCount: 0,
    openTasks: 1,
  };
}

/**
 * The selected agent, if it is available. Until the agents are loaded, the previous selection is
 * used, so that a fast user gets the agent shown.
 */
export function agentToAsk(agents: readonly AgentTypeInfo[], chosen: string): string | undefined {
  const there = agents.length === 0 || agents.some((agent) => agent.id === chosen);
  return chosen !== "" && there ? chosen : undefined;
}

/** The title of a context for display. */
export function titleOf(context: { title?: string | undefined }): string {
  return context.title?.trim() || "New conversation";
}
