import type { Json, Thought } from "@parley/client";
import { Icon } from "../ui/Icon.js";
import { Markdown } from "../text/Markdown.js";

const WORDS = new Intl.ListFormat("en", { type: "disjunction" });

function wordOf(other: Json): string {
  return typeof other === "string" ? other : JSON.stringify(other);
}

/** A thought of an agent. */
export function ThoughtView({ thought, live }: { thought: Thought; live: boolean }) {
  const sure = thought.metadata?.["confidence"];
  const others = thought.metadata?.["alternatives"];
  return (
    <div class="thought" data-verbosity={thought.verbosity}>
      <Icon name="thought" />
      <div>
        <span class="label">
          {thought.thoughtType}
          {typeof sure === "number" && `, ${Math.round(sure * 100)}% confident`}
        </span>
        <Markdown text={thought.text} live={live} />
        {Array.isArray(others) && others.length > 0 && (
          <p class="muted">Alternatives: {WORDS.format(others.map(wordOf))}</p>
        )}
      </div>
    </div>
  );
}
