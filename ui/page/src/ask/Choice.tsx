import type { InputRequired, Json } from "@parley/client";
import { useState } from "preact/hooks";
import { useSetting } from "../conversation/scene.js";

/** One of several, by a press or by its number. */
export function Choice({ ask, options }: { ask: InputRequired; options: readonly Json[] }) {
  const { conversation } = useSetting();
  const [sent, setSent] = useState(false);
  const choose = async (value: Json): Promise<void> => {
    setSent(true);
    setSent(await conversation.answer(ask.inputId, value));
  };
  const pressed = (event: KeyboardEvent): void => {
    const option = options[Number(event.key) - 1];
    if (option !== undefined && !sent) {
      event.preventDefault();
      void choose(option);
    }
  };
  return (
    <div class="dock-body choices" role="group" aria-label={ask.prompt} onKeyDown={pressed}>
      {options.map((option, i) => (
        <button
          key={i}
          class="button choice"
          data-first={i === 0 || undefined}
          disabled={sent}
          onClick={() => void choose(option)}
        >
          {i < 9 && <kbd>{i + 1}</kbd>} {nameOf(option)}
        </button>
      ))}
    </div>
  );
}

function nameOf(option: Json): string {
  if (typeof option === "object" && option !== null && !Array.isArray(option)) {
    const name = option["label"] ?? option["name"] ?? option["value"];
    return typeof name === "string" ? name : JSON.stringify(option);
  }
  return String(option);
}
