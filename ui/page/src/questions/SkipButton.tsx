import type { InputRequired } from "@parley/client";
import { useId } from "preact/hooks";
import { useSendAnswer } from "./answer-state.js";
import { useReady } from "./ready.js";

/** The answer for a skipped question: the agent continues without an answer. */
export const SKIPPED = { skipped: true } as const;

/** The answer for a declined question, which MCP servers distinguish from skipping. */
const DECLINED = { declined: true } as const;

/** Skips a question. Questions of MCP servers can also be declined. */
export function SkipButton({ question }: { question: InputRequired }) {
  const { sent, send } = useSendAnswer(question.inputId);
  const idle = useReady() && !sent;
  const note = useId();
  if (question.metadata?.["provider"] !== "mcp") {
    return (
      <button
        class="button"
        type="button"
        disabled={!idle}
        title="The agent continues without an answer"
        onClick={() => void send(SKIPPED)}
      >
        Skip
      </button>
    );
  }
  return (
    <>
      <button
        class="button"
        type="button"
        disabled={!idle}
        aria-describedby={`${note}-decline`}
        onClick={() => void send(DECLINED)}
      >
        Decline
      </button>
      <button
        class="button"
        type="button"
        disabled={!idle}
        aria-describedby={`${note}-skip`}
        onClick={() => void send(SKIPPED)}
      >
        Skip
      </button>
      <span class="muted">
        <span id={`${note}-decline`}>
          Decline: tells the MCP server that you do not want to answer.
        </span>{" "}
        <span id={`${note}-skip`}>Skip: tells it that the question was canceled.</span>
      </span>
    </>
  );
}
