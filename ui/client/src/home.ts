import type { ParleyApi } from "./api.js";
import { type Clock, SYSTEM_CLOCK } from "./clock.js";
import { Store } from "./store.js";
import type { AgentTypeInfo, ContextInfo, InboxItem } from "./types.js";

/** What there is to choose from: contexts, what waits for a person, and who can be asked. */
export interface HomeState {
  readonly contexts: readonly ContextInfo[];
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
  readonly clock?: Clock;
}

/** Contexts by what they need of the person who looks. */
export interface Groups {
  readonly needsYou: readonly ContextInfo[];
  readonly running: readonly ContextInfo[];
  readonly done: readonly ContextInfo[];
}

const EVERY_MS = 3_000;
const SOON_MS = 300;
const PAGE = 200;

/** All contexts that the caller may see, kept up to date by looking again and again. */
export class Home extends Store<HomeState> {
  private readonly closing = new AbortController();
  private nap = new AbortController();
  private wanted = PAGE;
  private soon = false;

  constructor(
    private readonly api: ParleyApi,
    private readonly options: HomeOptions = {},
  ) {
    super({
      contexts: [],
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
  }

  /** Looks again now, and once more a little later: after something was done. */
  refresh(): void {
    this.soon = true;
    this.nap.abort();
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
      this.change({ ...this.get(), loading: false, error });
    }
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
  private change(state: HomeState): void {
    const before = this.get();
    const same =
      before.loading === state.loading &&
      before.error?.message === state.error?.message &&
      JSON.stringify([before.contexts, before.inbox, before.more]) ===
        JSON.stringify([state.contexts, state.inbox, state.more]);
    if (!same && !this.closing.signal.aborted) {
      this.set(state);
    }
  }
}

/** Contexts by what they need, each in the order that they have; only those that fit the words. */
export function groupsOf({ contexts, inbox }: HomeState, words = ""): Groups {
  const waiting = new Set(inbox.map((item) => item.contextId));
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = contexts.filter((one) => {
    const text = `${titleOf(one)} ${one.contextId}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  return {
    needsYou: found.filter((one) => waiting.has(one.contextId)),
    running: found.filter((one) => !waiting.has(one.contextId) && one.openTasks > 0),
    done: found.filter((one) => !waiting.has(one.contextId) && one.openTasks === 0),
  };
}

/** What people call a context. */
export function titleOf(context: { title?: string | undefined }): string {
  return context.title?.trim() || "New conversation";
}
