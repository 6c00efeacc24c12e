import type { Row } from "@parley/client";
import { memo } from "preact/compat";
import { ErrorBoundary } from "../ui/ErrorBoundary.js";
import { TaskFooter } from "./TaskFooter.js";
import { MessageView } from "./MessageView.js";
import { StepView } from "./StepView.js";

interface RowProps {
  readonly row: Row;
  /** True if a link points here. */
  readonly marked: boolean;
}

/** A row of a conversation. */
export const RowView = memo(
  ({ row, marked }: RowProps) => (
    <div class="row" data-key={row.key} data-kind={row.kind} data-marked={marked || undefined}>
      <ErrorBoundary what="This" of={row}>
        {row.kind === "message" ? (
          <MessageView message={row.message} task={row.task} meanwhile={row.meanwhile} />
        ) : row.kind === "end" ? (
          <TaskFooter task={row.task} />
        ) : (
          <StepView step={row} task={row.task} />
        )}
      </ErrorBoundary>
    </div>
  ),
  (before, after) => before.marked === after.marked && sameRow(before.row, after.row),
);

/** Rows with the same facts look the same, because facts are immutable. */
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
  if (a.kind === "message" && b.kind === "message") {
    const same = a.message === b.message && a.meanwhile === b.meanwhile;
    return same && a.task?.status === b.task?.status;
  }
  if (a.kind === "call" && b.kind === "call") {
    return a.call === b.call && a.children.length === 0 && b.children.length === 0;
  }
  return false;
}
