import type { NewMessage } from "@parley/client";
import { useRef } from "preact/hooks";
import { Icon } from "../ui/Icon.js";

/** What can be said about how a message is to be taken up, as it is typed. */
export interface Options {
  readonly workingDirectory?: string;
  readonly strategy?: string;
  readonly priority?: string;
  readonly minutes?: string;
}

const STRATEGIES: readonly [string, string][] = [
  ["", "as it fits"],
  ["single", "one agent"],
  ["parallel", "several, side by side"],
  ["sequential", "several, one after the other"],
  ["delegate", "one, which may hand work on"],
];
const PRIORITIES = ["", "low", "normal", "high", "critical"];
const MINUTE_MS = 60_000;

/** The options as the server wants them; what was left empty is not there. */
export function optionsOf(options: Options): Partial<NewMessage> {
  const minutes = Number(options.minutes);
  const folder = options.workingDirectory?.trim();
  return {
    ...(folder ? { workingDirectory: folder } : {}),
    ...(options.strategy ? { strategy: options.strategy as "single" } : {}),
    ...(options.priority ? { priority: options.priority as "low" } : {}),
    ...(options.minutes && minutes > 0 ? { timeoutMs: Math.round(minutes * MINUTE_MS) } : {}),
  };
}

interface Props {
  readonly options: Options;
  readonly onChange: (options: Options) => void;
}

/** The options of a message, in a box that folds out. */
export function MessageOptions({ options, onChange }: Props) {
  const box = useRef<HTMLDetailsElement>(null);
  const set = Object.values(options).filter(Boolean).length;
  const change = (name: keyof Options) => (event: Event) =>
    onChange({ ...options, [name]: (event.currentTarget as HTMLInputElement).value });
  return (
    <details
      ref={box}
      class="options"
      onKeyDown={(event) => {
        if (event.key === "Escape" && box.current !== null) {
          box.current.open = false;
          box.current.querySelector("summary")?.focus();
        }
      }}
    >
      <summary class="button quiet small">
        Options{set > 0 ? ` (${set})` : ""} <Icon name="down" />
      </summary>
      <div class="options-box">
        <label class="field">
          <span>Working directory</span>
          <input
            value={options.workingDirectory ?? ""}
            placeholder="in the workspace"
            spellcheck={false}
            onInput={change("workingDirectory")}
          />
        </label>
        <label class="field">
          <span>Who works</span>
          <select value={options.strategy ?? ""} onChange={change("strategy")}>
            {STRATEGIES.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Priority</span>
          <select value={options.priority ?? ""} onChange={change("priority")}>
            {PRIORITIES.map((value) => (
              <option key={value} value={value}>
                {value === "" ? "as usual" : value}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Minutes it may take</span>
          <input
            type="number"
            min="0.1"
            step="any"
            value={options.minutes ?? ""}
            placeholder="5"
            onInput={change("minutes")}
          />
        </label>
      </div>
    </details>
  );
}
