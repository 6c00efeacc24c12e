import type { StepRow, ToolCall } from "@parley/client";
import { useEffect, useState } from "preact/hooks";
import { between, count, duration } from "../ui/format.js";
import { RowView } from "./RowView.js";
import { Status } from "./ToolCallView.js";

const NAMES_MAX = 4;

interface StepsFoldProps {
  readonly rows: readonly StepRow[];
  /** The key of the row of the address. */
  readonly target: string | undefined;
}

/** Steps that have ended, in one line that opens to them. */
export function StepsFold({ rows, target }: StepsFoldProps) {
  const [open, setOpen] = useState(false);
  const linked = rows.some((row) => row.key === target);
  useEffect(() => {
    if (linked) {
      setOpen(true);
    }
  }, [linked, target]);
  const calls = rows.flatMap((row) => (row.kind === "call" ? [row.call] : []));
  const took = between(calls[0]?.startedAt, calls.at(-1)?.endedAt);
  return (
    <div class="row" data-kind="fold">
      <details
        class="fold"
        open={open || linked}
        onToggle={(event) => setOpen(event.currentTarget.open)}
      >
        <summary>
          <Status status="succeeded" />
          <span class="fold-count">{count(calls.length, "step")}</span>
          <span class="call-summary">{namesOf(calls)}</span>
          {took !== undefined && <span class="duration">{duration(took)}</span>}
        </summary>
        <div class="fold-rows">
          {rows.map((row) => (
            <RowView key={row.key} row={row} marked={row.key === target} />
          ))}
        </div>
      </details>
    </div>
  );
}

/** The tools by how often they were called: `shell × 8, read_file`. */
function namesOf(calls: readonly ToolCall[]): string {
  const counts = new Map<string, number>();
  for (const { toolName } of calls) {
    counts.set(toolName, (counts.get(toolName) ?? 0) + 1);
  }
  const names = [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([name, n]) => (n === 1 ? name : `${name} × ${n}`));
  return names.length <= NAMES_MAX
    ? names.join(", ")
    : `${names.slice(0, NAMES_MAX).join(", ")} and ${names.length - NAMES_MAX} more`;
}
