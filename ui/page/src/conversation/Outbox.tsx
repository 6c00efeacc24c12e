import type { Outgoing } from "@parley/client";
import { useSetting } from "./scene.js";

/** What was said and has not arrived: on its way, or with the reason why it did not get there. */
export function Outbox(props: { outgoing: readonly Outgoing[]; onEdit: (text: string) => void }) {
  const { conversation } = useSetting();
  return (
    <>
      {props.outgoing.map(({ key, message, error }) => (
        <div class="outgoing" key={key} data-failed={error !== undefined || undefined}>
          <span class="outgoing-text">{message.content}</span>
          {error === undefined ? (
            <span class="quiet">sending…</span>
          ) : (
            <>
              <span class="problem" role="alert">
                {error.message}
              </span>
              <button class="button small" onClick={() => void conversation.sendAgain(key)}>
                Send again
              </button>
              <button
                class="button small quiet"
                onClick={() => props.onEdit(conversation.discard(key))}
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
