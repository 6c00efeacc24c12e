import { Random } from "./random.js";
import type { CompactEvent } from "./timeline-cases.js";

interface Node {
  readonly id: string;
  readonly parent?: string;
  readonly call?: string;
}

/** The events of a core task and a random tree of sub-agents, in the compact form of the cases. */
export class RandomTree {
  readonly events: CompactEvent[] = [];
  private readonly random: Random;
  private names = 0;

  constructor(
    seed: number,
    private readonly depthMax = 4,
  ) {
    this.random = new Random(seed);
    const core = { id: "core" };
    this.of(core, { kind: "task-created" });
    this.events.push(...this.work(core, 0));
    this.of(core, { kind: "task-complete" });
    for (const [i, event] of this.events.entries()) {
      event.seq = i + 1;
    }
  }

  /** The steps of a task, in order. */
  private work(task: Node, depth: number): CompactEvent[] {
    const events: CompactEvent[] = [];
    const say = (fields: CompactEvent): void => void events.push(this.stamped(task, fields));
    say({ kind: "task-status", status: "working" });
    for (let i = this.random.int(4); i >= 0; i--) {
      const what = this.random.int(depth < this.depthMax ? 5 : 3);
      if (what === 0) {
        say({ kind: "content-delta", delta: `by ${task.id}` });
      } else if (what === 1) {
        say({ kind: "usage", inputTokens: this.random.int(50), outputTokens: this.random.int(9) });
      } else if (what === 2) {
        const toolCallId = `x${this.names++}`;
        const attempt = 1 + this.random.int(2);
        say({ kind: "tool-start", toolCallId, toolName: "calculator", attempt });
        say({ kind: "tool-complete", toolCallId, toolName: "calculator" });
      } else {
        events.push(...this.batch(task, depth));
      }
    }
    return events;
  }

  private batch(task: Node, depth: number): CompactEvent[] {
    const call = `x${this.names++}`;
    const taskIds = Array.from({ length: 1 + this.random.int(3) }, () => `s${this.names++}`);
    const subagentMetadata = { taskIds, count: taskIds.length, mode: "parallel" };
    const tool = { toolCallId: call, toolName: "subagents", subagentMetadata };
    const threads = taskIds.map((id) => this.subtask(task, { id, parent: task.id, call }, depth));
    const between: CompactEvent[] = [];
    for (let left = threads; left.length > 0; left = left.filter((thread) => thread.length > 0)) {
      const next = this.random.pick(left).shift();
      if (next !== undefined) {
        between.push(next);
      }
    }
    const start = this.stamped(task, { kind: "tool-start", ...tool });
    return [start, ...between, this.stamped(task, { kind: "tool-complete", ...tool })];
  }

  private subtask(parent: Node, task: Node, depth: number): CompactEvent[] {
    const status = this.random.pick(["completed", "failed", "canceled"]);
    const end =
      status === "completed" ? { kind: "task-complete" } : { kind: "task-status", status };
    return [
      this.stamped(parent, { kind: "subtask-created", subtaskId: task.id, agentId: "worker" }),
      this.stamped(task, { kind: "task-created" }),
      ...this.work(task, depth + 1),
      this.stamped(task, end),
      this.stamped(parent, { kind: "subtask-complete", subtaskId: task.id, status }),
    ];
  }

  private of(task: Node, fields: CompactEvent): void {
    this.events.push(this.stamped(task, fields));
  }

  private stamped(task: Node, fields: CompactEvent): CompactEvent {
    const spawned =
      task.parent === undefined ? {} : { parentTaskId: task.parent, spawnedByCallId: task.call };
    return { ...fields, taskId: task.id, ...spawned };
  }
}
