import type { InputRequired, Json } from "@parley/client";
import { typing, useKeys } from "../app/hooks.js";
import { useGive } from "./answer.js";
import { Key } from "./Key.js";
import { useReady } from "./ready.js";

/** One of several, by a press or by its number. */
export function Choice({ ask, options }: { ask: InputRequired; options: readonly Json[] }) {
  const { sent, give: choose } = useGive(ask.inputId);
  const idle = useReady() && !sent;
  useKeys((event) => {
    const option = options[Number(event.key) - 1];
    const plain = !typing(event) && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (option !== undefined && idle && plain) {
      event.preventDefault();
      void choose(option);
    }
  });
  return (
    <div class="dock-body choices" role="group" aria-label={ask.prompt}>
      {options.map((option, i) => (
        <button
          key={i}
          class="button choice"
          disabled={!idle}
          aria-keyshortcuts={i < 9 ? String(i + 1) : undefined}
          onClick={() => void choose(option)}
        >
          {i < 9 && <Key name={String(i + 1)} />} {nameOf(option)}
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
