import {
  corrected,
  formatPosition,
  isAfter,
  emptyContext,
  ParleyApi,
  type ParleyEvent,
  parsePosition,
  positionOf,
  reduceAll,
} from "../src/index.js";
import { snapshotOf } from "./snapshot-of.js";

/** An in-memory API: pages of events, and snapshots at any position. */
export class LogServer {
  readonly requests: string[] = [];

  constructor(public events: readonly ParleyEvent[]) {}

  readonly api = new ParleyApi({
    url: "http://x",
    fetch: async (input) => {
      const url = new URL(String(input));
      this.requests.push(url.pathname + url.search);
      if (url.pathname.endsWith("/events")) {
        return Response.json(this.page(url.searchParams));
      }
      if (url.pathname.endsWith("/snapshot")) {
        const at = Number(url.searchParams.get("at"));
        return Response.json(snapshotOf(this.at(at)));
      }
      return Response.json(snapshotOf(this.at(Infinity)).context);
    },
  });

  /** The state after all events up to there, with later corrections. */
  at(seq: number) {
    const then = reduceAll(
      emptyContext("c"),
      this.events.filter((event) => event.seq <= seq),
    );
    return corrected(then, this.events);
  }

  private page(query: URLSearchParams) {
    const after = parsePosition(query.get("after") ?? 0);
    const limit = Number(query.get("limit") ?? 100);
    const internal = query.get("internal") === "true";
    const kinds = query.get("kinds")?.split(",");
    const rest = this.events.filter(
      (event) =>
        isAfter(positionOf(event), after) &&
        (internal || event.k === undefined) &&
        (kinds === undefined || kinds.includes(event.kind)) &&
        (query.get("taskId") ?? event.taskId) === event.taskId,
    );
    const events = rest.slice(0, limit);
    const hasMore = rest.length > limit;
    const last = hasMore ? events.at(-1) : this.events.at(-1);
    return { events, hasMore, position: last === undefined ? 0 : formatPosition(positionOf(last)) };
  }
}

/** A task that outputs this many numbers. */
export function counting(numbers: number): ParleyEvent[] {
  const task = { taskId: "t", rootTaskId: "t", agentId: "a" };
  const all: (Record<string, unknown> & { kind: string })[] = [
    { kind: "context-created", owner: "local" },
    { kind: "message", messageId: "m", role: "user", content: "count" },
    { ...task, kind: "task-created", initiator: "user", messageId: "m", prompt: "count" },
    { ...task, kind: "task-status", status: "working" },
    ...Array.from({ length: numbers }, (_, i) => ({
      ...task,
      kind: "content-delta",
      blockId: "b",
      index: i,
      delta: `${i} `,
    })),
  ];
  return all.map((fields, i) => {
    const timestamp = new Date(Date.UTC(2026, 10, 15) + i).toISOString();
    const place = { seq: i + 1, eventId: `e${i}`, contextId: "c", timestamp };
    return { ...place, ...fields } as unknown as ParleyEvent;
  });
}
