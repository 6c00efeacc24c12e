import type { InputRequired, Json } from "@parley/client";
import { useSendAnswer } from "./answer-state.js";
import { useListed } from "./answers.js";
import { optionName } from "./pending-questions.js";
import { useReady } from "./ready.js";
import { SkipButton } from "./SkipButton.js";

/** A choice by click, or by its typed name or number. */
export function Choice({
  question,
  options,
}: {
  question: InputRequired;
  options: readonly Json[];
}) {
  const { sent, send: choose } = useSendAnswer(question.inputId);
  const idle = useReady() && !sent;
  const listed = useListed() !== undefined;
  return (
    <div class="question-body">
      <div class="choices" role="group" aria-label={question.prompt}>
        {options.map((option, i) => (
          <button
            type="button"
            key={i}
            class="button choice"
            disabled={!idle}
            onClick={() => void choose(option)}
          >
            <span class="choice-number">{i + 1}</span> {optionName(option)}
          </button>
        ))}
      </div>
      <div class="question-actions">
        <SkipButton question={question} />
        {!listed && <span class="muted">Or type a choice or its number below.</span>}
      </div>
    </div>
  );
}
