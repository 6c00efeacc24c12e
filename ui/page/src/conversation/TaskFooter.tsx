import {
  hasEnded,
  isFolderError,
  type NewMessage,
  retryText,
  type TaskNode,
  tokensOf,
  answeringTaskOf,
} from "@parley/client";
import { formatRoute } from "../app/route.js";
import { agentName, useSession } from "../app/session.js";
import { useReturnToNow } from "../trace/past.js";
import { CopyButton } from "../ui/CopyButton.js";
import { between, duration, tokens } from "../ui/format.js";
import { Icon } from "../ui/Icon.js";
import { repeatMessage, useForkAfter } from "./MessageView.js";
import { useConversation, currentView } from "./conversation-context.js";
import { RunInFolder } from "./RunInFolder.js";
import { Duration, Status } from "./ToolCallView.js";

/** Descriptions of a task's status, in the present and in the past tense. */
const DOING: Readonly<Record<string, readonly [string, string]>> = {
  submitted: ["is queued", "was queued"],
  "waiting-input": ["is waiting for an answer", "was waiting for an answer"],
  "waiting-auth": ["is waiting for a sign-in", "was waiting for a sign-in"],
  "waiting-subtask": ["is waiting for sub-agents", "was waiting for sub-agents"],
};
const AT_WORK = ["is working…", "was working"] as const;
const STOPPING = ["is stopping…", "was stopping"] as const;

/** The footer of a task: its status, or its outcome and actions. */
export function TaskFooter({ task }: { task: TaskNode }) {
  const { state } = useSession();
  const context = useConversation();
  const { conversation, busy, asOf } = context;
  const fork = useForkAfter();
  const returnToNow = useReturnToNow();
  const voice = answeringTaskOf(task);
  const who = agentName(state.agents, voice.agentId);
  if (!hasEnded(task.status)) {
    const [now, then] = task.cancelRequested === true ? STOPPING : (DOING[voice.status] ?? AT_WORK);
    const retry = voice.retry ?? task.retry;
    return (
      <div class="task-status">
        <p class="task-now" role="status">
          <Status status={voice.status} /> {who} {asOf === undefined ? now : then}
        </p>
        {/* Outside the status, so that it is not announced every second. */}
        <Duration running startedAt={task.createdAt} endedAt={undefined} />
        {retry !== undefined && (
          <p class="retry" role="status">
            {retryText(retry)}
          </p>
        )}
      </div>
    );
  }
  const askable = task.messageId !== undefined;
  const rerun = (change: Partial<NewMessage> = {}): void => {
    const said = currentView(context)?.conversation.find(
      (one) => one.kind === "message" && one.message.messageId === task.messageId,
    );
    if (said?.kind === "message") {
      const message = { ...repeatMessage(said.message.content, said.message, task), ...change };
      void conversation.retry(said.message, message).then((done) => done && returnToNow());
    }
  };
  const failed = task.status !== "completed";
  const stopped = task.status === "canceled";
  const { totals } = task;
  return (
    <div class="task-footer" data-status={task.status}>
      {failed && (
        <p class={stopped ? "outcome stopped" : "outcome problem"}>
          <Status status={task.status} />
          <span>{stopped ? "Stopped." : (task.error?.message ?? "Failed.")}</span>
          {askable && isFolderError(task.error) && (
            <RunInFolder
              disabled={busy}
              onRun={(workingDirectory) => rerun({ workingDirectory })}
            />
          )}
          {askable && (
            <button type="button" class="button small" disabled={busy} onClick={() => rerun()}>
              <Icon name="retry" /> Retry
            </button>
          )}
        </p>
      )}
      <footer class="task-facts">
        <span>{duration(between(task.createdAt, task.endedAt) ?? 0)}</span>
        {totals.calls > 0 && <span>{tokens(tokensOf(totals))} tokens</span>}
        {totals.costUsd !== undefined && <span>${totals.costUsd.toFixed(4)}</span>}
        <span class="actions" role="group" aria-label="Answer actions">
          <CopyButton text={task.content ?? voice.text} what="answer" />
          {!failed && askable && (
            <button
              type="button"
              class="icon-button small"
              aria-label="Run again"
              title={busy ? "Not available while a task is running" : "Run again"}
              disabled={busy}
              onClick={() => rerun()}
            >
              <Icon name="retry" />
            </button>
          )}
          <button
            type="button"
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
