import type { ParleyApi } from "./api.js";
import { type Clock, SYSTEM_CLOCK } from "./clock.js";
import { Store } from "./store.js";
import type { AgentTypeInfo, ContextInfo, InboxItem } from "./types.js";

/** What there is to choose from: contexts, what waits for a person, and who can be asked. */
export interface HomeState {
  readonly contexts: readonly ContextInfo[];
  /** All contexts that there are, as far as they were read, while somebody searches. */
  readonly searched: readonly ContextInfo[];
  /** True while more of them are being read. */
  readonly searching: boolean;
  readonly inbox: readonly InboxItem[];
  readonly agents: readonly AgentTypeInfo[];
  readonly loading: boolean;
  /** True if there are contexts that are not listed here. */
  readonly more: boolean;
  /** Why the last look failed; what was seen before is still here. */
  readonly error: Error | undefined;
}

export interface HomeOptions {
  /** How long until it looks again. */
  readonly everyMs?: number;
  /** How much longer while it is paused. */
  readonly seldomMs?: number;
  readonly clock?: Clock;
}

/** Contexts by what they need of the person who looks. */
export interface Groups {
  readonly needsYou: readonly ContextInfo[];
  readonly running: readonly ContextInfo[];
  readonly done: readonly ContextInfo[];
}

const EVERY_MS = 3_000;
const SELDOM_MS = 30_000;
const SOON_MS = 300;
const PAGE = 200;
const SEARCHED_PAGE = 1_000;
/** So many contexts are searched, the ones that changed last. */
const SEARCHED_MAX = 20_000;

/** All contexts that the caller may see, kept up to date by looking again and again. */
export class Home extends Store<HomeState> {
  private readonly closing = new AbortController();
  private nap = new AbortController();
  private wanted = PAGE;
  private soon = false;
  private paused = false;
  private search: AbortController | undefined;

  constructor(
    private readonly api: ParleyApi,
    private readonly options: HomeOptions = {},
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
    this.nap.abort();
    this.search?.abort();
  }

  /** Looks again now, and once more a little later: after something was done. */
  refresh(): void {
    this.soon = true;
    this.nap.abort();
    if (this.search !== undefined) {
      this.readAll();
    }
  }

  /** Looks seldom until `resume`: for pages of which only the title, with what waits, is seen. */
  pause(): void {
    this.paused = true;
  }

  /** Looks at once, and goes on after `pause`. */
  resume(): void {
    this.paused = false;
    this.refresh();
  }

  /** Reads all contexts, not only those that are listed, for as long as somebody searches. */
  searches(wanted: boolean): void {
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
      this.nap = new AbortController();
      const soon = this.soon;
      this.soon = false;
      await this.look();
      const everyMs = this.options.everyMs ?? EVERY_MS;
      // Lists are made from the log a moment after it is written.
      await clock.sleep(soon ? Math.min(SOON_MS, everyMs) : everyMs, this.nap.signal);
      if (this.paused) {
        await clock.sleep(this.options.seldomMs ?? SELDOM_MS, this.nap.signal);
      }
    }
  }

  private async look(): Promise<void> {
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
        // Why is told by the list, which is looked at all the time.
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

  /** The same as before is no change: nobody need draw it again. */
  private change(change: Partial<HomeState>): void {
    const before = this.get();
    const after = { ...before, ...change };
    const told = ({ error, agents: _, searched: __, ...rest }: HomeState): string =>
      JSON.stringify([error?.message, rest]);
    const same = before.searched === after.searched && told(before) === told(after);
    if (!same && !this.closing.signal.aborted) {
      this.set(after);
    }
  }
}

/** Contexts by what they need, each in the order that they have; only those that fit the words. */
export function groupsOf(state: HomeState, words = ""): Groups {
  const waiting = new Set(state.inbox.map((item) => item.contextId));
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const searched = wanted.length === 0 ? [] : state.searched;
  const all = new Map<string, ContextInfo>();
  // What waits for a person is there however long ago it was listed last.
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

/** As much of a context as what waits in it tells. */
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
 * The agent to ask, if one was chosen and is there. Before it is known who is there, the choice of
 * last time counts: somebody who writes fast is to get whom they see.
 */
export function agentToAsk(agents: readonly AgentTypeInfo[], chosen: string): string | undefined {
  const there = agents.length === 0 || agents.some((agent) => agent.id === chosen);
  return chosen !== "" && there ? chosen : undefined;
}

/** What people call a context. */
export function titleOf(context: { title?: string | undefined }): string {
  return context.title?.trim() || "New conversation";
}
