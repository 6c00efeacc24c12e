import { hasEnded, type TaskNode, tokensOf, voiceOf } from "@parley/client";
import { formatRoute } from "../app/route.js";
import { agentName, useSession } from "../app/session.js";
import { useToNow } from "../insight/past.js";
import { CopyButton } from "../ui/CopyButton.js";
import { between, duration, tokens } from "../ui/format.js";
import { Icon } from "../ui/Icon.js";
import { again, useForkAfter } from "./Said.js";
import { useSetting, viewShown } from "./scene.js";
import { Status } from "./ToolCallView.js";

/** What a task is doing, now and as one says it of the past. */
const DOING: Readonly<Record<string, readonly [string, string]>> = {
  submitted: ["waits for its turn", "waited for its turn"],
  "waiting-input": ["waits for an answer", "waited for an answer"],
  "waiting-auth": ["waits for a sign-in", "waited for a sign-in"],
  "waiting-subtask": ["waits for sub-agents", "waited for sub-agents"],
};
const AT_WORK = ["is at work", "was at work"] as const;
const STOPPING = ["is being stopped", "was being stopped"] as const;

/** The last line of a task: what it is doing, or how it went and what can be done now. */
export function EndOfTask({ task }: { task: TaskNode }) {
  const { state } = useSession();
  const setting = useSetting();
  const { conversation, busy, asOf } = setting;
  const fork = useForkAfter();
  const toNow = useToNow();
  const voice = voiceOf(task);
  const who = agentName(state.agents, voice.agentId);
  if (!hasEnded(task.status)) {
    const [now, then] =
      task.cancelRequested === true ? STOPPING : (DOING[voice.status] ?? AT_WORK);
    return (
      <p class="doing" role="status">
        <Status status={voice.status} /> {who} {asOf === undefined ? now : then}
      </p>
    );
  }
  const askable = task.messageId !== undefined;
  const rerun = (): void => {
    const said = viewShown(setting)?.conversation.find(
      (one) => one.kind === "message" && one.message.messageId === task.messageId,
    );
    if (said?.kind === "message") {
      const message = again(said.message.content, said.message, task);
      void conversation.retry(said.message, message).then((done) => done && toNow());
    }
  };
  const failed = task.status !== "completed";
  const stopped = task.status === "canceled";
  const { totals } = task;
  return (
    <div class="ended" data-status={task.status}>
      {failed && (
        <p class={stopped ? "outcome stopped" : "outcome problem"}>
          <Status status={task.status} />
          <span>{stopped ? "Stopped." : (task.error?.message ?? "It failed.")}</span>
          {askable && (
            <button class="button small" disabled={busy} onClick={rerun}>
              <Icon name="retry" /> Retry
            </button>
          )}
        </p>
      )}
      <footer class="facts">
        <span>{who}</span>
        <span>{duration(between(task.createdAt, task.endedAt) ?? 0)}</span>
        {totals.calls > 0 && <span>{tokens(tokensOf(totals))} tokens</span>}
        {totals.costUsd !== undefined && <span>${totals.costUsd.toFixed(4)}</span>}
        <span class="actions" role="group" aria-label="What can be done with this answer">
          <CopyButton text={task.content ?? voice.text} what="answer" />
          {!failed && askable && (
            <button
              class="icon-button small"
              aria-label="Run again"
              title={busy ? "Only while nothing runs" : "Run again"}
              disabled={busy}
              onClick={rerun}
            >
              <Icon name="retry" />
            </button>
          )}
          <button
            class="icon-button small"
            aria-label="Fork from here"
            title="Fork from here"
            onClick={() => void fork(task)}
          >
            <Icon name="fork" />
          </button>
          <a
            class="icon-button small"
            href={formatRoute({ contextId: task.contextId, taskId: task.taskId })}
            aria-label="Link to this task"
            title="Link"
          >
            <Icon name="link" />
          </a>
        </span>
      </footer>
    </div>
  );
}
