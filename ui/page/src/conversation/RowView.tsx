import type { Row } from "@parley/client";
import { memo } from "preact/compat";
import { Guarded } from "../ui/Guarded.js";
import { EndOfTask } from "./EndOfTask.js";
import { Said } from "./Said.js";
import { StepView } from "./StepView.js";

interface RowProps {
  readonly row: Row;
  /** True if a link leads here. */
  readonly marked: boolean;
}

/** One row of a conversation. */
export const RowView = memo(
  ({ row, marked }: RowProps) => (
    <div class="row" data-key={row.key} data-kind={row.kind} data-marked={marked || undefined}>
      <Guarded what="This" of={row}>
        {row.kind === "said" ? (
          <Said message={row.message} task={row.task} meanwhile={row.meanwhile} />
        ) : row.kind === "end" ? (
          <EndOfTask task={row.task} />
        ) : (
          <StepView step={row} task={row.task} />
        )}
      </Guarded>
    </div>
  ),
  (before, after) => before.marked === after.marked && sameRow(before.row, after.row),
);

/** What a row shows is the same if its facts are: facts are never changed in place. */
function sameRow(a: Row, b: Row): boolean {
  if (a.kind !== b.kind || a.key !== b.key) {
    return false;
  }
  if (a.kind === "text" && b.kind === "text") {
    return a.block === b.block && a.cut === b.cut && a.task.status === b.task.status;
  }
  if (a.kind === "thought" && b.kind === "thought") {
    return a.thought === b.thought && a.task.status === b.task.status;
  }
  if (a.kind === "question" && b.kind === "question") {
    return a.question === b.question;
  }
  if (a.kind === "artifact" && b.kind === "artifact") {
    return a.version === b.version;
  }
  if (a.kind === "said" && b.kind === "said") {
    const same = a.message === b.message && a.meanwhile === b.meanwhile;
    return same && a.task?.status === b.task?.status;
  }
  if (a.kind === "call" && b.kind === "call") {
    return a.call === b.call && a.children.length === 0 && b.children.length === 0;
  }
  return false;
}
