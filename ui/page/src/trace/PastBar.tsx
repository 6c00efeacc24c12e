import { useConversationView } from "../conversation/conversation-context.js";
import { Icon } from "../ui/Icon.js";
import { useReturnToNow } from "./past.js";

interface PastBarProps {
  readonly at: number;
  readonly head: number;
  /** The requested event, if it does not exist: the last event is shown. */
  readonly beyond: number | undefined;
  /** Why the event cannot be shown. */
  readonly error: Error | undefined;
}

/** A bar that indicates that the past is shown. */
export function PastBar({ at, head, beyond, error }: PastBarProps) {
  const { past, view } = useConversationView();
  const back = useReturnToNow();
  return (
    <div class="past-bar">
      <Icon name="clock" />
      {error === undefined ? (
        <span>
          {beyond !== undefined && at === head
            ? `Event ${beyond} does not exist. As of event ${head}, the last one`
            : `As of event ${at} of ${head}`}
          {view.updatedAt !== undefined && `, ${new Date(view.updatedAt).toLocaleString()}`}
        </span>
      ) : (
        <span class="problem" role="alert">
          Event {at} cannot be shown: {error.message}
        </span>
      )}
      <span class="spacer" />
      {error !== undefined && (
        <button type="button" class="button small" onClick={() => past.go(at)}>
          Try again
        </button>
      )}
      <button type="button" class="button small" onClick={back}>
        Back to now
      </button>
    </div>
  );
}
