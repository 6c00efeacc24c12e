import type { InputRequired } from "@parley/client";
import { useId } from "preact/hooks";
import { useGive } from "./answer.js";
import { useReady } from "./ready.js";

/** What answers a question that a person does not want to answer: the agent goes on without. */
export const SKIPPED = { skipped: true } as const;

/** What says that a person does not want to answer; an MCP server is told the difference. */
const DECLINED = { declined: true } as const;

/** Leaves a question unanswered. The form of an MCP server can also be declined. */
export function Skip({ ask }: { ask: InputRequired }) {
  const { sent, give } = useGive(ask.inputId);
  const idle = useReady() && !sent;
  const note = useId();
  if (ask.metadata?.["provider"] !== "mcp") {
    return (
      <button
        class="button"
        type="button"
        disabled={!idle}
        title="The agent goes on without an answer"
        onClick={() => void give(SKIPPED)}
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
        onClick={() => void give(DECLINED)}
      >
        Decline
      </button>
      <button
        class="button"
        type="button"
        disabled={!idle}
        aria-describedby={`${note}-skip`}
        onClick={() => void give(SKIPPED)}
      >
        Skip
      </button>
      <span class="quiet">
        <span id={`${note}-decline`}>
          Decline: the MCP server is told that you do not want to answer.
        </span>{" "}
        <span id={`${note}-skip`}>Skip: it is told that the question was canceled.</span>
      </span>
    </>
  );
}
