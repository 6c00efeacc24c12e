import { useGive } from "./answer.js";
import { useReady } from "./ready.js";

/** What answers a question that a person does not want to answer: the agent goes on without. */
export const SKIPPED = { skipped: true } as const;

/** Leaves a question unanswered. */
export function Skip({ inputId }: { inputId: string }) {
  const { sent, give } = useGive(inputId);
  const ready = useReady();
  return (
    <button
      class="button"
      type="button"
      disabled={!ready || sent}
      title="The agent goes on without an answer"
      onClick={() => void give(SKIPPED)}
    >
      Skip
    </button>
  );
}
