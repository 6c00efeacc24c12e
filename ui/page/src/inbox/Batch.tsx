import { useState } from "preact/hooks";
import { type Answers, ListedContext } from "../questions/answers.js";
import { useReady } from "../questions/ready.js";
import type { InboxQuestion } from "./inbox-questions.js";

interface BatchProps {
  readonly approvals: readonly InboxQuestion[];
  /** The selected ones. */
  readonly chosen: readonly InboxQuestion[];
  /** Changes when something was answered. */
  readonly place: string;
  readonly onSelect: (ids: readonly string[]) => void;
  readonly answersTo: (one: InboxQuestion) => Answers;
}

/** Answers several approvals at once. A call that arrives later is not selected. */
export function Batch({ place, ...rest }: BatchProps) {
  const [noAnswers] = useState<Answers>(() => ({
    answer: async () => false,
    signIn: async () => false,
    skipSignIn: async () => false,
  }));
  return (
    <ListedContext.Provider
      value={{ answers: noAnswers, place: `${place}/${rest.chosen.length === 0}` }}
    >
      <BatchBar {...rest} />
    </ListedContext.Provider>
  );
}

function BatchBar({ approvals, chosen, onSelect, answersTo }: Omit<BatchProps, "place">) {
  const [reason, setReason] = useState<string>();
  const [sending, setSending] = useState(false);
  const idle = useReady() && !sending && chosen.length > 0;
  const answer = async (approved: boolean): Promise<void> => {
    setSending(true);
    const value = approved || !reason ? approved : { approved, reason };
    for (const one of chosen) {
      const { question } = one;
      if (question.kind === "input-required") {
        await answersTo(one).answer(question.inputId, value);
      }
    }
    onSelect([]);
    setReason(undefined);
    setSending(false);
  };
  const n = chosen.length;
  return (
    <div class="inbox-batch" role="group" aria-label="Several approvals">
      <label class="checkbox">
        <input
          type="checkbox"
          checked={n === approvals.length}
          onChange={() => onSelect(n === approvals.length ? [] : approvals.map(({ id }) => id))}
        />
        {n === 0 ? `Select all ${approvals.length} approvals` : `${n} selected`}
      </label>
      {n > 0 && reason === undefined && (
        <>
          <button
            type="button"
            class="button primary"
            disabled={!idle}
            onClick={() => void answer(true)}
          >
            Approve {n}
          </button>
          <button type="button" class="button" disabled={!idle} onClick={() => setReason("")}>
            Deny {n}…
          </button>
        </>
      )}
      {n > 0 && reason !== undefined && (
        <form
          class="batch-reason"
          onSubmit={(event) => {
            event.preventDefault();
            if (idle) {
              void answer(false);
            }
          }}
        >
          <input
            aria-label="Reason for all (optional)"
            placeholder="Reason for all (optional)"
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <button type="submit" class="button" disabled={!idle}>
            Deny {n}
          </button>
          <button type="button" class="button muted" onClick={() => setReason(undefined)}>
            Back
          </button>
        </form>
      )}
    </div>
  );
}
