import { replace } from "../app/route.js";
import { useSetting } from "./scene.js";

/** Says that the address leads to nothing, until somebody has read it. */
export function Nowhere({ last }: { last: number }) {
  const { conversation, route } = useSetting();
  const { contextId } = conversation;
  const { seq, at, lost } = route;
  // Read, it need not be said after a reload again.
  const dismiss = (): void => replace({ contextId, at });
  return (
    <p class="toast quiet" role="status">
      <span>
        {lost
          ? "The end of the link cannot be read. This is the conversation that it leads to."
          : seq === undefined
            ? "The link leads to a task that is not in this conversation."
            : `The link leads to event ${seq}, but there are only ${last} here.`}
      </span>
      <button class="button small" onClick={dismiss}>
        Dismiss
      </button>
    </p>
  );
}
