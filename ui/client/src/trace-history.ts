import type { ParleyApi } from "./api.js";
import { BACKOFF, type Backoff, type Clock, delay, SYSTEM_CLOCK } from "./clock.js";
import { ParleyError } from "./errors.js";
import type { ParleyEvent } from "./events.js";
import { endedCalls } from "./model-calls.js";
import { parsePosition, type Position } from "./position.js";
import { reduceAll } from "./reduce.js";
import {
  type ContextState,
  emptyContext,
  type ModelCall,
  type Task,
  type ToolCall,
} from "./state.js";
import { Store } from "./store.js";
import { hasEnded } from "./task-events.js";

export interface TraceHistoryState {
  /** The loaded events, oldest first, without their texts. */
  readonly events: readonly ParleyEvent[];
  readonly loading: boolean;
  /** True if there are more events than are loaded. */
  readonly cut: boolean;
  /** The error, if they cannot be loaded. Temporary failures are retried. */
  readonly error: Error | undefined;
}

export interface TraceHistoryOptions {
  readonly backoff?: Backoff;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** The maximum number of events that are loaded. */
  readonly eventsMax?: number;
}

const PAGE = 1_000;
const EVENTS_MAX = 100_000;
/** The kinds that tasks, model calls and tool calls are made of. */
const STEPS = [
  "context-rewound",
  "task-created",
  "task-status",
  "task-complete",
  "content-complete",
  "tool-start",
  "tool-complete",
  "usage",
  "internal:llm-call",
];

/**
 * The tasks, model calls and tool calls of a context before its recent events, page by page and
 * without text.
 *
 * A page loads only the recent events of a long context; a snapshot has the state of the earlier
 * tasks, but not their steps. Call `reach` with the last event that is known only from the
 * snapshot, and `complete` to add the loaded steps to a context.
 */
export class TraceHistory extends Store<TraceHistoryState> {
  private readonly closing = new AbortController();
  private position: Position = 0;
  private wanted = 0;
  private reached = 0;
  private running = false;
  private past: { events: readonly ParleyEvent[]; base: number; state: ContextState } | undefined;
  /** Unchanged tasks keep their object, so that their nodes are reused. */
  private readonly tasks = new WeakMap<Task, { past: Task; joined: Task }>();

  constructor(
    private readonly api: ParleyApi,
    private readonly contextId: string,
    private readonly options: TraceHistoryOptions = {},
  ) {
    super({ events: [], loading: false, cut: false, error: undefined });
  }

  close(): void {
    this.closing.abort();
  }

  /** Loads all steps up to an event. Retries after an error. */
  reach(seq: number): void {
    this.wanted = Math.max(this.wanted, seq);
    void this.load();
  }

  /** The context with all loaded steps. Returns the same object if it has them already. */
  complete(context: ContextState): ContextState {
    const past = this.pastOf(context.base);
    if (past === undefined) {
      return context;
    }
    const tasks: Record<string, Task> = { ...context.tasks };
    for (const [taskId, task] of Object.entries(past.tasks)) {
      const known = tasks[taskId];
      tasks[taskId] = known === undefined ? task : this.join(task, known);
    }
    return {
      ...context,
      tasks,
      rewinds: [...past.rewinds, ...context.rewinds],
      // The snapshot's usage does not name tasks, and the loaded events contain it.
      usage: [...past.usage, ...context.usage.filter((one) => one.taskId !== undefined)],
    };
  }

  private pastOf(base: number): ContextState | undefined {
    const { events } = this.get();
    if (base === 0 || events.length === 0) {
      return undefined;
    }
    if (this.past?.events !== events || this.past.base !== base) {
      const before = events.filter((event) => event.seq <= base);
      this.past = { events, base, state: reduceAll(emptyContext(this.contextId), before) };
    }
    return this.past.state;
  }

  private join(past: Task, now: Task): Task {
    const known = this.tasks.get(now);
    if (known?.past === past) {
      return known.joined;
    }
    const joined = {
      ...now,
      calls: joinCalls(past.calls, now),
      modelCalls: joinModelCalls(past.modelCalls, now),
    };
    this.tasks.set(now, { past, joined });
    return joined;
  }

  private async load(): Promise<void> {
    if (this.running || this.wanted <= this.reached || this.get().cut) {
      return;
    }
    this.running = true;
    this.change({ loading: true, error: undefined });
    let failures = 0;
    while (this.wanted > this.reached && !this.get().cut && this.get().error === undefined) {
      try {
        await this.loadPage();
        failures = 0;
      } catch (failure) {
        if (this.closing.signal.aborted) {
          return;
        }
        if (failure instanceof ParleyError && failure.retryable) {
          await this.waitToRetry(++failures, failure.retryAfterMs);
        } else {
          this.change({ error: failure instanceof Error ? failure : new Error(String(failure)) });
        }
      }
    }
    this.running = false;
    this.change({ loading: false });
  }

  private async loadPage(): Promise<void> {
    const { wanted } = this;
    const page = await this.api.events(this.contextId, {
      after: this.position,
      limit: PAGE,
      filter: { kinds: STEPS, internal: true },
      signal: this.closing.signal,
    });
    const events = [...this.get().events, ...page.events.map(withoutText)];
    const advanced = String(page.position) !== String(this.position);
    this.position = page.position;
    // Internal events follow the public event with their number.
    if (!page.hasMore || !advanced || parsePosition(page.position).seq > wanted) {
      this.reached = wanted;
    }
    const { eventsMax = EVENTS_MAX } = this.options;
    this.change({ events, cut: this.wanted > this.reached && events.length >= eventsMax });
  }

  private waitToRetry(failures: number, askedMs: number | undefined): Promise<void> {
    const { backoff = BACKOFF, clock = SYSTEM_CLOCK, random = Math.random } = this.options;
    return clock.sleep(delay(backoff, failures, askedMs, random), this.closing.signal);
  }

  private change(change: Partial<TraceHistoryState>): void {
    if (!this.closing.signal.aborted) {
      this.set({ ...this.get(), ...change });
    }
  }
}

/** Only names, times and tokens are needed, and texts can be large. */
function withoutText(event: ParleyEvent): ParleyEvent {
  switch (event.kind) {
    case "content-complete":
      return { ...event, content: "" };
    case "tool-start":
      return { ...event, arguments: {} };
    case "tool-complete":
    case "task-complete": {
      const { result: _, content: __, ...rest } = { result: undefined, content: "", ...event };
      return rest as ParleyEvent;
    }
    default:
      return event; // The other kinds are small.
  }
}

/** A call may begin before the recent events and end among them. */
function joinCalls(past: readonly ToolCall[], { calls, status }: Task): readonly ToolCall[] {
  const recent = new Map(calls.map((call) => [call.toolCallId, call]));
  const known = new Set(past.map((call) => call.toolCallId));
  const earlier = past.map((call): ToolCall => {
    const now = recent.get(call.toolCallId);
    if (now === undefined) {
      const left = call.status === "running" && hasEnded(status);
      return left ? { ...call, status: "abandoned" } : call;
    }
    const { toolName, seq, attempt, startedAt, subagents } = call;
    return now.startedAt === undefined
      ? {
          ...now,
          toolName: now.toolName || toolName,
          arguments: call.arguments,
          subagents: now.subagents ?? subagents,
          seq,
          attempt,
          startedAt,
        }
      : now;
  });
  return [...earlier, ...calls.filter((call) => !known.has(call.toolCallId))];
}

/** The first recent usage may belong to a model call that began earlier. */
function joinModelCalls(
  past: readonly ModelCall[],
  { modelCalls, endedAt }: Task,
): readonly ModelCall[] {
  const earlier = past.filter(
    (call) => !modelCalls.some((one) => one.seq === call.seq && one.k === call.k),
  );
  const [first, ...others] = modelCalls;
  const last = earlier.at(-1);
  if (first !== undefined && first.startedAt === undefined && last !== undefined && !last.counted) {
    const { seq, k, iteration, startedAt } = last;
    const ended = last.endedAt ?? first.endedAt;
    const joined = { ...first, seq, k, iteration, startedAt, endedAt: ended };
    return [...earlier.slice(0, -1), joined, ...others];
  }
  return [...endedCalls(earlier, first?.startedAt ?? endedAt), ...modelCalls];
}
