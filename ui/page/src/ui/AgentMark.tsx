/** The number of colors for agents. */
const COLORS = 8;

/** The color of an agent; the same wherever the agent appears. */
export function agentColor(agentId: string): number {
  let sum = 0;
  for (const character of agentId) {
    sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9_973;
  }
  return sum % COLORS;
}

/** The name of an agent with its color. */
export function AgentMark({ agentId, name }: { agentId: string; name: string }) {
  const [first = "?"] = [...name.trim()];
  return (
    <span class="agent">
      {/* The letter is a style: it is not a part of the name when text is copied or read aloud. */}
      <span
        class={`agent-mark agent-${agentColor(agentId)}`}
        data-letter={first.toUpperCase()}
        aria-hidden="true"
      />
      <strong>{name}</strong>
    </span>
  );
}
