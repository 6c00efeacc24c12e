import type { ParleyEvent } from "../src/index.js";
import { Random } from "./random.js";

type Fields = Record<string, unknown> & { kind: string };

interface Open {
  readonly id: string;
  readonly parent?: string;
  readonly root: string;
  readonly call?: string;
}

const WORDS = ["hello", " wörld", " 語", "🦜\n", " 1", " and", '"quoted"', "\\", " "];
const START = Date.parse("2026-11-15T10:00:00.000Z");

/** A random log as a server might write it: one task at a time, with sub-agents and rewinds. */
export class RandomLog {
  readonly events: ParleyEvent[] = [];
  private readonly random: Random;
  private names = 0;
  private k = 0;
  private readonly messages: string[] = [];
  private readonly ends: number[] = [];
  private readonly artifacts = new Map<string, number>();

  constructor(
    seed: number,
    turns = 4,
    readonly contextId = "c",
  ) {
    this.random = new Random(seed);
    this.add({ kind: "context-created", owner: "local" });
    for (let i = 0; i < turns; i++) {
      this.between();
      this.turn();
    }
    this.between();
  }

  private between(): void {
    this.ends.push(this.seq());
    if (this.random.chance(0.3) && this.messages.length > 0) {
      const messageId = this.random.pick(this.messages);
      this.add(
        this.random.chance(0.6)
          ? {
              kind: "message-updated",
              messageId,
              content: `edited ${this.names}`,
              metadata: { n: this.names },
            }
          : { kind: "message-deleted", messageId },
      );
    }
    if (this.random.chance(0.4)) {
      const key = this.random.pick(["a", "b", "user:name"]);
      this.add({
        kind: "state-updated",
        delta: { [key]: this.random.chance(0.2) ? null : this.names++ },
      });
    }
    if (this.random.chance(0.2)) {
      this.add({ kind: "context-updated", title: `title ${this.names++}` });
    }
    if (this.random.chance(0.35)) {
      this.add({ kind: "context-rewound", toSeq: this.random.pick(this.ends) });
      this.ends.push(this.seq());
    }
  }

  private turn(): void {
    const taskId = this.name("t");
    const messageId = this.name("m");
    this.messages.push(messageId);
    this.add({
      kind: "message",
      messageId,
      role: "user",
      content: this.words(3),
      metadata: { taskId },
    });
    this.task({ id: taskId, root: taskId }, messageId, 0);
  }

  private task(task: Open, messageId: string | undefined, depth: number): void {
    const initiator = depth === 0 ? "user" : "agent";
    this.of(task, {
      kind: "task-created",
      initiator,
      prompt: "do it",
      ...(messageId && { messageId }),
    });
    if (this.random.chance(0.2)) {
      this.of(task, { kind: "task-status", status: "submitted", metadata: { blockedBy: "other" } });
    }
    this.of(task, { kind: "task-status", status: "working" });
    for (let i = this.random.int(5); i >= 0; i--) {
      this.step(task, depth);
    }
    this.end(task, depth);
  }

  private step(task: Open, depth: number): void {
    switch (this.random.int(depth < 2 ? 8 : 7)) {
      case 0:
      case 1:
        this.block(task);
        break;
      case 2:
        this.tool(task);
        break;
      case 3:
        this.ask(task);
        break;
      case 4:
        this.write(task);
        break;
      case 5:
        this.think(task);
        break;
      case 6:
        this.spend(task);
        break;
      default:
        this.spawn(task, depth);
        break;
    }
  }

  private block(task: Open, replaces?: string): void {
    const blockId = this.name("b");
    let content = "";
    for (let index = 0; index <= this.random.int(6); index++) {
      const delta = this.random.pick(WORDS);
      content += delta;
      this.of(task, { kind: "content-delta", delta, index, blockId });
      this.internal(task);
    }
    if (this.random.chance(0.15)) {
      this.of(task, {
        kind: "content-complete",
        content,
        blockId,
        partial: true,
        finishReason: "interrupted",
      });
      this.block(task, blockId);
    } else if (this.random.chance(0.95)) {
      const replaced = replaces === undefined ? {} : { replaces };
      this.of(task, {
        kind: "content-complete",
        content,
        blockId,
        finishReason: "stop",
        ...replaced,
      });
    }
  }

  private internal(task: Open): void {
    if (this.random.chance(0.1)) {
      this.k++;
      this.of(task, { kind: "internal:checkpoint", iteration: 1 });
      this.k = 0;
    }
  }

  private tool(task: Open): void {
    const toolCallId = this.name("x");
    this.of(task, {
      kind: "tool-start",
      toolCallId,
      toolName: "calculator",
      arguments: { a: 1 },
      attempt: 1,
    });
    if (this.random.chance(0.5)) {
      this.of(task, {
        kind: "tool-progress",
        toolCallId,
        progress: this.random.next(),
        message: "half",
      });
    }
    if (this.random.chance(0.9)) {
      const end = this.random.chance(0.8)
        ? { success: true, result: 3 }
        : { success: false, error: "no" };
      this.of(task, { kind: "tool-complete", toolCallId, toolName: "calculator", ...end });
    }
  }

  private ask(task: Open): void {
    const inputId = this.name("i");
    this.of(task, { kind: "input-required", inputId, inputType: "confirmation", prompt: "May I?" });
    this.of(task, {
      kind: "task-status",
      status: "waiting-input",
      metadata: { blockedBy: inputId },
    });
    const end = this.random.int(3);
    if (end < 2) {
      this.of(
        task,
        end === 0
          ? { kind: "input-received", inputId, providedBy: "user", value: true }
          : { kind: "input-lapsed", inputId, reason: "late" },
      );
      this.of(task, { kind: "task-status", status: "working", metadata: { blockedBy: null } });
    }
  }

  private write(task: Open): void {
    const artifactId = this.random.pick(["file", "notes", "table", "record"]);
    const version = (this.artifacts.get(artifactId) ?? 0) + 1;
    this.artifacts.set(artifactId, version);
    const head = { artifactId, version };
    if (artifactId === "record") {
      this.of(task, { kind: "data-write", ...head, data: { n: version } });
      return;
    }
    const chunks = 1 + this.random.int(3);
    for (let index = 0; index < chunks; index++) {
      const complete = index === chunks - 1 && this.random.chance(0.9);
      const first = index === 0 ? { name: artifactId } : {};
      const chunk = { ...head, index, complete, ...first };
      this.of(
        task,
        artifactId === "table"
          ? { kind: "dataset-write", ...chunk, rows: [{ n: index }] }
          : { kind: "file-write", ...chunk, data: this.random.pick(WORDS) },
      );
    }
  }

  private think(task: Open): void {
    const thoughtId = this.name("h");
    for (let index = 0; index < 2; index++) {
      const content = this.random.pick(WORDS);
      this.of(task, {
        kind: "thought-stream",
        thoughtId,
        thoughtType: "planning",
        verbosity: "normal",
        content,
        index,
      });
    }
  }

  private spend(task: Open): void {
    const model = this.random.pick(["small", "large"]);
    const cost = this.random.chance(0.5) ? { costUsd: this.random.int(100) / 1000 } : {};
    const tokens = { inputTokens: this.random.int(100), outputTokens: this.random.int(100) };
    this.of(task, { kind: "usage", model, ...tokens, ...cost });
  }

  /** Sub-agents with interleaved events. */
  private spawn(task: Open, depth: number): void {
    const call = this.name("x");
    const taskIds = Array.from({ length: 1 + this.random.int(3) }, () => this.name("s"));
    const subagentMetadata = { taskIds, count: taskIds.length, mode: "parallel" };
    const tool = { toolCallId: call, toolName: "subagents", subagentMetadata };
    this.of(task, { kind: "tool-start", ...tool, arguments: {} });
    this.of(task, { kind: "task-status", status: "waiting-subtask" });
    const logs = taskIds.map((id) => {
      const from = this.events.length;
      this.of(task, { kind: "subtask-created", subtaskId: id, agentId: "worker", prompt: "help" });
      this.task({ id, parent: task.id, root: task.root, call }, undefined, depth + 1);
      this.of(task, { kind: "subtask-complete", subtaskId: id, status: "completed" });
      return this.events.splice(from);
    });
    this.interleave(logs);
    this.of(task, { kind: "tool-complete", ...tool, success: true });
    this.of(task, { kind: "task-status", status: "working" });
  }

  private interleave(logs: ParleyEvent[][]): void {
    for (let left = logs.filter((log) => log.length > 0); left.length > 0; ) {
      const event = this.random.pick(left).shift();
      if (event !== undefined) {
        this.number(event, event.k === undefined ? 0 : 1);
      }
      left = left.filter((log) => log.length > 0);
    }
  }

  private end(task: Open, depth: number): void {
    const content = this.words(2);
    if (this.random.chance(0.2)) {
      this.of(task, {
        kind: "error",
        code: "timeout",
        message: "late",
        retryable: true,
        scope: "task",
      });
      this.of(task, { kind: "task-status", status: "failed", metadata: { reason: "timeout" } });
      return;
    }
    if (this.random.chance(0.1)) {
      this.of(task, { kind: "cancel-requested", requestedBy: "local" });
      this.of(task, { kind: "task-status", status: "canceled" });
      return;
    }
    if (depth === 0) {
      const messageId = this.name("m");
      this.messages.push(messageId);
      this.of(task, { kind: "message", messageId, role: "assistant", content });
    }
    this.of(task, { kind: "task-status", status: "completed" });
    this.of(task, { kind: "task-complete", content, metadata: { iterations: 1 } });
  }

  private words(count: number): string {
    return Array.from({ length: count }, () => this.random.pick(WORDS)).join("");
  }

  private name(prefix: string): string {
    return `${prefix}${this.names++}`;
  }

  private seq(): number {
    return this.events.at(-1)?.seq ?? 0;
  }

  private of(task: Open, fields: Fields): void {
    this.add({
      ...fields,
      taskId: task.id,
      rootTaskId: task.root,
      ...(task.parent && { parentTaskId: task.parent }),
      ...(task.call && { spawnedByCallId: task.call, invocationId: task.call }),
      agentId: fields["agentId"] ?? (fields.kind === "input-received" ? undefined : "agent"),
      agentLevel: task.parent === undefined ? "core" : "subagent",
    });
  }

  private add(fields: Fields): void {
    const event = JSON.parse(
      JSON.stringify({ contextId: this.contextId, ...fields }),
    ) as ParleyEvent;
    this.number(event, this.k);
  }

  private number(event: ParleyEvent, k: number): void {
    const last = this.events.at(-1);
    event.seq = k > 0 ? (last?.seq ?? 0) : (last?.seq ?? 0) + 1;
    if (k > 0) {
      event.k = last !== undefined && last.k !== undefined ? last.k + 1 : 1;
    }
    event.eventId = `${this.contextId}-${event.seq}.${event.k ?? 0}`;
    event.timestamp = new Date(START + event.seq).toISOString();
    this.events.push(event);
  }
}
