import type { InputRequired, Json, JsonObject } from "@parley/client";
import { useState } from "preact/hooks";
import { JsonText } from "../text/JsonText.js";
import { useAnswerDraft, useSendAnswer } from "./answer-state.js";
import { Fields } from "./Fields.js";
import { SkipButton } from "./SkipButton.js";
import { draftOf, problemsOf, formValueOf } from "@parley/client";

/** An answer by a form, generated from the schema. */
export function FormAnswer({ question }: { question: InputRequired }) {
  const given = question.schema;
  const schema: JsonObject =
    typeof given === "object" && given !== null && !Array.isArray(given) ? given : {};
  const [draft, setDraft] = useAnswerDraft(question.inputId, "form", draftOf(schema, undefined));
  const [touched, setTouched] = useState(false);
  const [tried, setTried] = useState(false);
  const { sent, send } = useSendAnswer(question.inputId);
  const problems = problemsOf(schema, draft);
  const answer = async (): Promise<void> => {
    setTried(true);
    if (problems.length === 0 && !sent) {
      await send(formValueOf(schema, draft) as Json);
    }
  };
  const call = question.metadata?.["toolCall"];
  return (
    <form
      class="question-body"
      noValidate
      data-typing
      onSubmit={(event) => {
        event.preventDefault();
        void answer();
      }}
      onKeyDown={(event) => {
        // Enter does not submit an untouched form.
        if (event.key === "Enter" && !touched && event.target instanceof HTMLInputElement) {
          event.preventDefault();
        }
      }}
    >
      {question.inputType === "tool-execution" && call !== undefined && <JsonText value={call} />}
      <Fields
        schema={schema}
        draft={draft}
        onChange={(next) => {
          setTouched(true);
          setDraft(next);
        }}
        problems={tried ? problems : []}
      />
      <div class="question-actions">
        <button class="button primary" type="submit" disabled={sent}>
          Answer
        </button>
        <SkipButton question={question} />
      </div>
    </form>
  );
}
