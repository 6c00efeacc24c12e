import type { InputRequired } from "@parley/client";
import { useState } from "preact/hooks";
import { useSetting } from "../conversation/scene.js";

/** An answer in words. */
export function TextAnswer({ ask }: { ask: InputRequired }) {
  const { conversation } = useSetting();
  const [text, setText] = useState("");
  const [sent, setSent] = useState(false);
  const answer = async (): Promise<void> => {
    if (text.trim() !== "" && !sent) {
      setSent(true);
      setSent(await conversation.answer(ask.inputId, text));
    }
  };
  return (
    <form
      class="dock-body"
      onSubmit={(event) => {
        event.preventDefault();
        void answer();
      }}
    >
      <textarea
        rows={2}
        aria-label={`Answer: ${ask.prompt}`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            void answer();
          }
        }}
      />
      <div class="dock-actions">
        <button class="button primary" type="submit" disabled={sent || text.trim() === ""}>
          Answer
        </button>
      </div>
    </form>
  );
}
