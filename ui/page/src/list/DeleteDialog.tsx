import { useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import { Dialog } from "../ui/Dialog.js";

interface DeleteProps {
  readonly contextId: string;
  /** What it is called, where that is not in plain sight. */
  readonly title?: string;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

/** Asks once more before a conversation is deleted. */
export function DeleteDialog({ contextId, title, onDeleted, onClose }: DeleteProps) {
  const { api, home, outboxes } = useSession();
  const [problem, setProblem] = useState<string>();
  const remove = async (): Promise<void> => {
    try {
      await api.deleteContext(contextId);
      outboxes.forget(contextId);
      home.refresh();
      onDeleted();
    } catch (failure) {
      setProblem(failure instanceof Error ? failure.message : String(failure));
    }
  };
  return (
    <Dialog title="Delete this conversation?" onClose={onClose}>
      {title !== undefined && <p class="dialog-what">{title}</p>}
      <p>
        All of it is removed from this machine, with its files, and what runs in it is stopped.
        Nobody can bring it back. Forks of it stay.
      </p>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="dialog-actions">
        <button class="button" onClick={onClose}>
          Keep
        </button>
        <button class="button danger" onClick={() => void remove()}>
          Delete
        </button>
      </p>
    </Dialog>
  );
}
