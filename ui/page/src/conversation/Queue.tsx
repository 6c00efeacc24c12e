import type { TaskNode } from "@parley/client";
import { Icon } from "../ui/Icon.js";
import { useSetting } from "./scene.js";

/** What was said while a task runs and waits for its turn. */
export function Queue({ queue }: { queue: readonly TaskNode[] }) {
  const { conversation } = useSetting();
  if (queue.length === 0) {
    return null;
  }
  return (
    <ol class="queue" aria-label="Waiting for their turn">
      {queue.map((task) => (
        <li key={task.taskId}>
          <Icon name="clock" />
          <span class="outgoing-text">{task.prompt}</span>
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
