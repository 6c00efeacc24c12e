import type { InputRequired, Json, JsonObject } from "@parley/client";
import { useState } from "preact/hooks";
import { JsonText } from "../text/JsonText.js";
import { useAnswer, useGive } from "./answer.js";
import { Fields } from "./Fields.js";
import { draftOf, problemsOf, valueOf } from "@parley/client";

/** An answer that has a form: a field for each thing that the schema names. */
export function FormAnswer({ ask }: { ask: InputRequired }) {
  const given = ask.schema;
  const schema: JsonObject =
    typeof given === "object" && given !== null && !Array.isArray(given) ? given : {};
  const [draft, setDraft] = useAnswer(ask.inputId, "form", draftOf(schema, undefined));
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
      onSubmit={(event) => {
        event.preventDefault();
        void answer();
      }}
    >
      {ask.inputType === "tool-execution" && call !== undefined && <JsonText value={call} />}
      <Fields schema={schema} draft={draft} onChange={setDraft} problems={tried ? problems : []} />
      <div class="dock-actions">
        <button class="button primary" type="submit" disabled={sent}>
          Answer
        </button>
      </div>
    </form>
  );
}
