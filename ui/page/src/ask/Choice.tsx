import type { InputRequired, Json } from "@parley/client";
import { useGive } from "./answer.js";
import { optionName } from "./asks.js";
import { useReady } from "./ready.js";
import { Skip } from "./Skip.js";

/** One of several, by a press; or by its name or number, typed below. */
export function Choice({ ask, options }: { ask: InputRequired; options: readonly Json[] }) {
  const { sent, give: choose } = useGive(ask.inputId);
  const idle = useReady() && !sent;
  return (
    <div class="dock-body">
      <div class="choices" role="group" aria-label={ask.prompt}>
        {options.map((option, i) => (
          <button
            key={i}
            class="button choice"
            disabled={!idle}
            onClick={() => void choose(option)}
          >
            <span class="choice-number">{i + 1}</span> {optionName(option)}
          </button>
        ))}
      </div>
      <div class="dock-actions">
        <Skip ask={ask} />
        <span class="quiet">Or type a choice, or its number, below.</span>
      </div>
    </div>
  );
}
