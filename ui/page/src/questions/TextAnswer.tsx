import type { InputRequired } from "@parley/client";
import { useAnswerDraft, useSendAnswer } from "./answer-state.js";
import { useListed } from "./answers.js";
import { SkipButton } from "./SkipButton.js";

/** A question that is answered with text: in the composer, or in a field of its own in a list. */
export function TextAnswer({ question }: { question: InputRequired }) {
  return useListed() === undefined ? (
    <div class="question-body">
      <div class="question-actions">
        <SkipButton question={question} />
        <span class="muted">Type your answer below.</span>
      </div>
    </div>
  ) : (
    <TextForm question={question} />
  );
}

function TextForm({ question }: { question: InputRequired }) {
  const [text, setText] = useAnswerDraft(question.inputId, "text", "");
  const { sent, send } = useSendAnswer(question.inputId);
  return (
    <form
      class="question-body"
      data-typing
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "" && !sent) {
          void send(text);
        }
      }}
    >
      <label class="field">
        <span>Answer</span>
        <input value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <div class="question-actions">
        <button class="button primary" type="submit" disabled={sent || text.trim() === ""}>
          Answer
        </button>
        <SkipButton question={question} />
      </div>
    </form>
  );
}
