import { replace } from "../app/route.js";
import { useConversation } from "./conversation-context.js";

/** A notice that the target of a link does not exist, until it is dismissed. */
export function LinkNotFound({ last }: { last: number }) {
  const { conversation, route } = useConversation();
  const { contextId } = conversation;
  const { seq, at, lost } = route;
  // After it is dismissed, it must not return on reload.
  const dismiss = (): void => replace({ contextId, at });
  return (
    <p class="toast muted" role="status">
      <span>
        {lost
          ? "Part of the link is not valid. This is the conversation that it points to."
          : seq === undefined
            ? "The link points to a task that is not in this conversation."
            : `The link points to event ${seq}, but this conversation has only ${last}.`}
      </span>
      <button type="button" class="button small" onClick={dismiss}>
        Dismiss
      </button>
    </p>
  );
}
