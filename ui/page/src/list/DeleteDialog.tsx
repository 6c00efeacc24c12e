import { useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import { Dialog } from "../ui/Dialog.js";

interface DeleteProps {
  readonly contextId: string;
  /** The title, where it is not visible otherwise. */
  readonly title?: string;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

/** The confirmation before a conversation is deleted. */
export function DeleteDialog({ contextId, title, onDeleted, onClose }: DeleteProps) {
  const { api, contextList, outboxes } = useSession();
  const [problem, setProblem] = useState<string>();
  const remove = async (): Promise<void> => {
    try {
      await api.deleteContext(contextId);
      outboxes.forget(contextId);
      contextList.refresh();
      onDeleted();
    } catch (failure) {
      setProblem(failure instanceof Error ? failure.message : String(failure));
    }
  };
  return (
    <Dialog title="Delete this conversation?" onClose={onClose}>
      {title !== undefined && <p class="dialog-what">{title}</p>}
      <p>
        Parley stops its tasks and deletes the conversation and its files from this machine. This
        can’t be undone. Forks are kept.
      </p>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button danger" onClick={() => void remove()}>
          Delete
        </button>
      </p>
    </Dialog>
  );
}
