import type { TaskNode } from "@parley/client";
import { type Ask, kindOf } from "../ask/asks.js";
import { Icon } from "../ui/Icon.js";
import { useSetting } from "./scene.js";

/** What was said while a task runs and waits for its turn. */
export function Queue({ queue, ask }: { queue: readonly TaskNode[]; ask: Ask | undefined }) {
  const { conversation } = useSetting();
  const question = ask?.kind === "input-required" && kindOf(ask) === "text" ? ask : undefined;
  // It waits behind the task that waits for an answer: it may have been meant as that.
  const answerWith = async ({ taskId, prompt = "" }: TaskNode, inputId: string): Promise<void> => {
    if (await conversation.cancel(taskId)) {
      await conversation.answer(inputId, prompt);
    }
  };
  if (queue.length === 0) {
    return null;
  }
  return (
    <ol class="queue" aria-label="Waiting for their turn">
      {queue.map((task) => (
        <li key={task.taskId}>
          <Icon name="clock" />
          <span class="outgoing-text">{task.prompt}</span>
          {question !== undefined && (
            <button
              class="button small"
              onClick={() => void answerWith(task, question.inputId)}
            >
              Use as the answer
            </button>
          )}
          <button
            class="icon-button small"
            aria-label="Take out of the queue"
            title="Take out of the queue"
            onClick={() => void conversation.cancel(task.taskId)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ol>
  );
}
