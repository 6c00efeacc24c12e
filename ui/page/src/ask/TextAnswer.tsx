import type { InputRequired } from "@parley/client";
import { Skip } from "./Skip.js";

/** A question that is answered in words: where messages are written. */
export function TextAnswer({ ask }: { ask: InputRequired }) {
  return (
    <div class="dock-body">
      <div class="dock-actions">
        <Skip ask={ask} />
        <span class="quiet">Type your answer below.</span>
      </div>
    </div>
  );
}
