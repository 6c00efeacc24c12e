import type { Outgoing } from "@parley/client";
import { useEffect } from "preact/hooks";
import { useSetting } from "./scene.js";

/** What was said and has not arrived: on its way, or with the reason why it did not get there. */
export function Outbox(props: { outgoing: readonly Outgoing[]; onEdit: (text: string) => void }) {
  const { conversation } = useSetting();
  const some = props.outgoing.length > 0;
  useEffect(() => {
    // It is nowhere but here: the browser asks before the page goes.
    const warn = (event: Event): void => event.preventDefault();
    if (some) {
      addEventListener("beforeunload", warn);
    }
    return () => removeEventListener("beforeunload", warn);
  }, [some]);
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
