import type { InputRequired, Json, JsonObject } from "@parley/client";
import { useState } from "preact/hooks";
import { JsonText } from "../text/JsonText.js";
import { useAnswer, useGive } from "./answer.js";
import { Fields } from "./Fields.js";
import { Skip } from "./Skip.js";
import { draftOf, problemsOf, valueOf } from "@parley/client";

/** An answer that has a form: a field for each thing that the schema names. */
export function FormAnswer({ ask }: { ask: InputRequired }) {
  const given = ask.schema;
  const schema: JsonObject =
    typeof given === "object" && given !== null && !Array.isArray(given) ? given : {};
  const [draft, setDraft] = useAnswer(ask.inputId, "form", draftOf(schema, undefined));
  const [touched, setTouched] = useState(false);
  const [tried, setTried] = useState(false);
  const { sent, give } = useGive(ask.inputId);
  const problems = problemsOf(schema, draft);
  const answer = async (): Promise<void> => {
    setTried(true);
    if (problems.length === 0 && !sent) {
      await give(valueOf(schema, draft) as Json);
    }
  };
  const call = ask.metadata?.["toolCall"];
  return (
    <form
      class="dock-body"
      noValidate
      data-typing
      onSubmit={(event) => {
        event.preventDefault();
        void answer();
      }}
      onKeyDown={(event) => {
        // Enter alone does not send a form that nobody has filled in.
        if (event.key === "Enter" && !touched && event.target instanceof HTMLInputElement) {
          event.preventDefault();
        }
      }}
    >
      {ask.inputType === "tool-execution" && call !== undefined && <JsonText value={call} />}
      <Fields
        schema={schema}
        draft={draft}
        onChange={(next) => {
          setTouched(true);
          setDraft(next);
        }}
        problems={tried ? problems : []}
      />
      <div class="dock-actions">
        <button class="button primary" type="submit" disabled={sent}>
          Answer
        </button>
        <Skip ask={ask} />
      </div>
    </form>
  );
}
