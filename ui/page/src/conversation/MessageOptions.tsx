import type { NewMessage } from "@parley/client";
import { useRef } from "preact/hooks";
import { Icon } from "../ui/Icon.js";

/** The options of a message, as entered. */
export interface Options {
  readonly workingDirectory?: string;
  readonly strategy?: string;
  readonly priority?: string;
  readonly minutes?: string;
}

const STRATEGIES: readonly [string, string][] = [
  ["", "Auto"],
  ["single", "One agent"],
  ["parallel", "Several agents in parallel"],
  ["sequential", "Several agents in sequence"],
  ["delegate", "One agent that may delegate"],
];
const PRIORITIES = ["", "low", "normal", "high", "critical"];
const MINUTE_MS = 60_000;

/** The options as request fields, without empty ones. */
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

/** The collapsible options of a message. */
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
      <summary class="button muted small">
        Options{set > 0 ? ` (${set})` : ""} <Icon name="down" />
      </summary>
      <div class="options-box">
        <label class="field">
          <span>Working directory</span>
          <input
            value={options.workingDirectory ?? ""}
            placeholder="Path in the workspace"
            spellcheck={false}
            onInput={change("workingDirectory")}
          />
        </label>
        <label class="field">
          <span>Team</span>
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
                {value === "" ? "Default" : value}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Time limit (minutes)</span>
          <input
            type="number"
            min="0.1"
            step="any"
            value={options.minutes ?? ""}
            placeholder="Default: 5"
            onInput={change("minutes")}
          />
        </label>
      </div>
    </details>
  );
}
