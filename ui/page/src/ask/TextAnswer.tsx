import type { InputRequired } from "@parley/client";
import { useAnswer, useGive } from "./answer.js";

/** An answer in words. */
export function TextAnswer({ ask }: { ask: InputRequired }) {
  const [text, setText] = useAnswer(ask.inputId, "text", "");
  const { sent, give } = useGive(ask.inputId);
  const answer = async (): Promise<void> => {
    if (text.trim() !== "" && !sent) {
      await give(text);
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
