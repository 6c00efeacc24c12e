import type { TaskNode } from "@parley/client";
import { type PendingQuestion, kindOf } from "../questions/pending-questions.js";
import { Icon } from "../ui/Icon.js";
import { useConversation } from "./conversation-context.js";

/** Messages that wait for the running task. */
export function Queue({
  queue,
  pending,
}: {
  queue: readonly TaskNode[];
  pending: PendingQuestion | undefined;
}) {
  const { conversation } = useConversation();
  const question =
    pending?.kind === "input-required" && kindOf(pending) === "text" ? pending : undefined;
  // The queued message may be meant as the answer to the running task's question.
  const answerWith = async ({ taskId, prompt = "" }: TaskNode, inputId: string): Promise<void> => {
    if (await conversation.cancel(taskId)) {
      await conversation.answer(inputId, prompt);
    }
  };
  if (queue.length === 0) {
    return null;
  }
  return (
    <ol class="queue" aria-label="Queued messages">
      {queue.map((task) => (
        <li key={task.taskId}>
          <Icon name="clock" />
          <span class="outgoing-text">{task.prompt}</span>
          {question !== undefined && (
            <button
              type="button"
              class="button small"
              onClick={() => void answerWith(task, question.inputId)}
            >
              Use as answer
            </button>
          )}
          <button
            type="button"
            class="icon-button small"
            aria-label="Remove from the queue"
            title="Remove from the queue"
            onClick={() => void conversation.cancel(task.taskId)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ol>
  );
}
