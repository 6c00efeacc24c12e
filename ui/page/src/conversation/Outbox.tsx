import { isFolderError, type Outgoing, ParleyError } from "@parley/client";
import { useConversation } from "./conversation-context.js";
import { RunInFolder } from "./RunInFolder.js";

/** Unsent messages, with their errors. */
export function Outbox(props: { outgoing: readonly Outgoing[]; onEdit: (text: string) => void }) {
  const { conversation } = useConversation();
  return (
    <>
      {props.outgoing.map(({ key, message, error, waiting, sending }) => (
        <div class="outgoing" key={key} data-failed={error !== undefined || undefined}>
          <span class="outgoing-text">{message.content}</span>
          {error === undefined ? (
            <span class="muted">sending…</span>
          ) : (
            <>
              <span class="problem" role="alert">
                {waiting ? `Not sent yet: ${why(error)}. Retrying automatically.` : error.message}
              </span>
              {isFolderError(error) && (
                <RunInFolder
                  disabled={sending}
                  onRun={(workingDirectory) =>
                    void conversation.sendChanged(key, { workingDirectory })
                  }
                />
              )}
              <button
                type="button"
                class="button small"
                disabled={sending}
                onClick={() => void conversation.sendAgain(key)}
              >
                {waiting ? "Send now" : "Send again"}
              </button>
              <button
                type="button"
                class="button small muted"
                disabled={sending}
                onClick={() => {
                  const text = conversation.discard(key);
                  if (text !== undefined) {
                    props.onEdit(text);
                  }
                }}
              >
                Edit
              </button>
            </>
          )}
        </div>
      ))}
    </>
  );
}

function why(error: Error): string {
  const silent = error instanceof ParleyError && error.status === 0;
  return silent ? "the server does not respond" : error.message;
}
