import type { InputRequired } from "@parley/client";
import { SkipButton } from "./SkipButton.js";

/** A question that is answered with text in the composer. */
export function TextAnswer({ question }: { question: InputRequired }) {
  return (
    <div class="question-body">
      <div class="question-actions">
        <SkipButton question={question} />
        <span class="muted">Type your answer below.</span>
      </div>
    </div>
  );
}
