import { useScene } from "../conversation/scene.js";
import { Icon } from "../ui/Icon.js";
import { useToNow } from "./past.js";

interface PastBarProps {
  readonly at: number;
  readonly head: number;
  /** What was asked for, if it has not happened: then this is the last event. */
  readonly beyond: number | undefined;
  /** Why that place cannot be shown. */
  readonly error: Error | undefined;
}

/** Says that what is shown is past, where one would write otherwise. */
export function PastBar({ at, head, beyond, error }: PastBarProps) {
  const { past, view } = useScene();
  const back = useToNow();
  return (
    <div class="past-bar">
      <Icon name="clock" />
      {error === undefined ? (
        <span>
          {beyond !== undefined && at === head
            ? `There is no event ${beyond}: there are only ${head}. As it was after the last`
            : `As it was after event ${at} of ${head}`}
          {view.updatedAt !== undefined && `, ${new Date(view.updatedAt).toLocaleString()}`}
        </span>
      ) : (
        <span class="problem" role="alert">
          Event {at} cannot be shown: {error.message}
        </span>
      )}
      <span class="spring" />
      {error !== undefined && (
        <button class="button small" onClick={() => past.go(at)}>
          Try again
        </button>
      )}
      <button class="button small" onClick={back}>
        Back to now
      </button>
    </div>
  );
}
