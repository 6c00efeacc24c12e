import { type Outgoing, ParleyError } from "@parley/client";
import { useSetting } from "./scene.js";

/** What was said and has not arrived: on its way, or with the reason why it did not get there. */
export function Outbox(props: { outgoing: readonly Outgoing[]; onEdit: (text: string) => void }) {
  const { conversation } = useSetting();
  return (
    <>
      {props.outgoing.map(({ key, message, error, waiting, sending }) => (
        <div class="outgoing" key={key} data-failed={error !== undefined || undefined}>
          <span class="outgoing-text">{message.content}</span>
          {error === undefined ? (
            <span class="quiet">sending…</span>
          ) : (
            <>
              <span class="problem" role="alert">
                {waiting ? `Not sent yet: ${why(error)}. It is tried again by itself.` : error.message}
              </span>
              <button
                class="button small"
                disabled={sending}
                onClick={() => void conversation.sendAgain(key)}
              >
                {waiting ? "Send now" : "Send again"}
              </button>
              <button
                class="button small quiet"
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
  return silent ? "the server does not answer" : error.message;
}
