import { answeringTaskOf, hasEnded, type Row, type StepRow } from "@parley/client";

/** Fewer calls are not folded. */
const CALLS_MIN = 3;

/** A row of the thread, or steps that are folded into one line. */
export type ThreadItem =
  | { readonly kind: "row"; readonly row: Row }
  | { readonly kind: "fold"; readonly key: string; readonly rows: readonly StepRow[] };

/**
 * Groups the rows of a thread: consecutive steps of a task that has ended are folded if at least
 * three of them are calls. What failed, what was denied and what agents said is never folded.
 */
export function foldedSteps(rows: readonly Row[]): readonly ThreadItem[] {
  const items: ThreadItem[] = [];
  let steps: StepRow[] = [];
  const end = (): void => {
    const [first] = steps;
    if (first !== undefined && steps.filter((one) => one.kind === "call").length >= CALLS_MIN) {
      items.push({ kind: "fold", key: `f-${first.key}`, rows: steps });
    } else {
      items.push(...steps.map((row): ThreadItem => ({ kind: "row", row })));
    }
    steps = [];
  };
  for (const row of rows) {
    const [first] = steps;
    if (first !== undefined && first.task.taskId !== row.task?.taskId) {
      end();
    }
    if (isQuiet(row)) {
      steps.push(row);
    } else {
      end();
      items.push({ kind: "row", row });
    }
  }
  end();
  return items;
}

function isQuiet(row: Row): row is StepRow {
  switch (row.kind) {
    case "thought":
      return hasEnded(row.task.status);
    case "call":
      return (
        hasEnded(row.task.status) && row.call.status === "succeeded" && row.children.length === 0
      );
    case "question":
      return hasEnded(row.task.status) && isApproved(row.question.value);
    default:
      return false;
  }
}

function isApproved(value: unknown): boolean {
  const edited = typeof value === "object" && value !== null && "approved" in value;
  return edited ? value.approved === true : value === true;
}

/** The agents above whose rows their name is shown, by the key of the first row of each task. */
export function authorsOf(rows: readonly Row[]): ReadonlyMap<string, string> {
  const authors = new Map<string, string>();
  let before: string | undefined;
  for (const row of rows) {
    const task = row.kind === "message" || row.kind === "end" ? undefined : row.task;
    if (task !== undefined && task.taskId !== before) {
      authors.set(row.key, answeringTaskOf(task).agentId);
    }
    if (row.kind === "message" && row.message.role === "assistant" && row.task === undefined) {
      authors.set(row.key, row.message.agentId ?? "");
    }
    before = task?.taskId;
  }
  return authors;
}
