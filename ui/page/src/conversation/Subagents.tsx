import {
  hasEnded,
  containsTask,
  progressOf,
  retryText,
  stepsOf,
  type TaskNode,
  tokensOf,
  type ToolCall,
} from "@parley/client";
import { memo } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import { formatRoute } from "../app/route.js";
import { agentName, useSession } from "../app/session.js";
import { Markdown } from "../text/Markdown.js";
import { AgentMark } from "../ui/AgentMark.js";
import { count, tokens } from "../ui/format.js";
import { Icon } from "../ui/Icon.js";
import { useConversation } from "./conversation-context.js";
import { useLinkedRow } from "./linked-row.js";
import { Steps } from "./StepView.js";
import { Status, Duration } from "./ToolCallView.js";

const TAIL_MAX = 160;
const TAIL_READ = 1_000;

/** The sub-agents of one call, with their progress. */
export function Subagents({
  call,
  tasks,
}: {
  call: ToolCall | undefined;
  tasks: readonly TaskNode[];
}) {
  const { total, ended, failed, stopped } = progressOf(tasks);
  const done = ended - failed - stopped;
  const several = tasks.length > 1;
  return (
    <section class="subagents" aria-label={count(tasks.length, "sub-agent")}>
      {several && (
        <header class="batch">
          <Icon name="agents" />
          <strong>{count(tasks.length, "sub-agent")}</strong>
          <progress max={total} value={ended} aria-label={`${ended} of ${total} ended`} />
          <span class="muted">
            {done} of {total} done{failed > 0 && `, ${failed} failed`}
            {stopped > 0 && `, ${stopped} stopped`}
            {call?.subagents?.["mode"] === "serial" && ", in sequence"}
          </span>
        </header>
      )}
      {tasks.map((task) => (
        <Subagent key={task.taskId} task={task} />
      ))}
    </section>
  );
}

/** A sub-agent: a status line and, when expanded, its thread. */
const Subagent = memo(({ task }: { task: TaskNode }) => {
  const { state } = useSession();
  const { conversation, link, asOf } = useConversation();
  const linked = containsTask([task], link.taskId);
  const [open, setOpen] = useState(linked);
  useEffect(() => {
    if (linked) {
      setOpen(true);
    }
  }, [linked, link.taskId]);
  const key = `a-${task.taskId}`;
  const { box, marked } = useLinkedRow(key);
  const over = hasEnded(task.status);
  const stopped = task.status === "canceled";
  const below = progressOf(task.children);
  const name = agentName(state.agents, task.agentId);
  return (
    <article
      ref={box}
      class="subagent"
      data-status={task.status}
      data-task={task.taskId}
      data-key={key}
      data-marked={marked}
    >
      <div class="subagent-head">
        <button
          type="button"
          class="subagent-open"
          data-opens
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? "down" : "right"} />
          <Status status={task.status} />
          <AgentMark agentId={task.agentId} name={name} />
          <span class="call-summary">{task.prompt}</span>
        </button>
        <span class="subagent-facts">
          {below.total > 0 && <span>{count(below.total, "sub-agent")}</span>}
          {task.totals.calls > 0 && <span>{tokens(tokensOf(task.totals))} tokens</span>}
          <span>
            {stopped && "stopped after "}
            <Duration running={!over} startedAt={task.createdAt} endedAt={task.endedAt} />
          </span>
          {!over && (
            <button
              type="button"
              class="button small"
              aria-label={`Stop ${name} and its sub-agents`}
              disabled={asOf !== undefined}
              onClick={() => void conversation.cancel(task.taskId)}
            >
              <Icon name="stop" /> Stop
            </button>
          )}
        </span>
      </div>
      {open ? (
        <div class="subagent-thread">
          <Steps task={task} />
          {task.retry !== undefined && (
            <p class="retry" role="status">
              {retryText(task.retry)}
            </p>
          )}
          {task.error !== undefined && (
            <p class={stopped ? "muted" : "problem"}>{task.error.message}</p>
          )}
          {task.calls.length === 0 && task.blocks.length === 0 && task.content !== undefined && (
            <div class="text">
              <Markdown text={task.content} />
            </div>
          )}
          <a
            class="muted link"
            href={formatRoute({ contextId: task.contextId, taskId: task.taskId })}
          >
            <Icon name="link" /> Link to this task
          </a>
        </div>
      ) : (
        <p class="subagent-tail">
          <span>{tailOf(task)}</span>
        </p>
      )}
    </article>
  );
});

/** Its last step, in one line. */
function tailOf(task: TaskNode): string {
  if (task.error !== undefined) {
    return task.error.message;
  }
  if (task.retry !== undefined) {
    return retryText(task.retry);
  }
  const last = stepsOf(task).at(-1);
  const text =
    last?.kind === "text"
      ? last.block.text
      : last?.kind === "thought"
        ? last.thought.text
        : last?.kind === "call"
          ? last.call.toolName
          : last?.kind === "question"
            ? last.question.prompt
            : last?.kind === "artifact"
              ? (last.version.name ?? last.version.artifactId)
              : (task.content ?? "");
  const line = text.slice(-TAIL_READ).replace(/\s+/g, " ").trim();
  return line.length > TAIL_MAX ? `…${line.slice(-TAIL_MAX)}` : line;
}
