import { formatRoute } from "../app/route.js";
import { useScene } from "../conversation/scene.js";
import { Icon } from "../ui/Icon.js";

/** Says that what is shown is past, where one would write otherwise. */
export function PastBar({ at, head }: { at: number; head: number }) {
  const { past, view } = useScene();
  const back = (): void => {
    past.go(undefined);
    location.replace(formatRoute({ contextId: view.contextId }));
  };
  return (
    <div class="past-bar" role="status">
      <Icon name="clock" />
      <span>
        As it was after event {at} of {head}
        {view.updatedAt !== undefined && `, ${new Date(view.updatedAt).toLocaleString()}`}
      </span>
      <span class="spring" />
      <button class="button small" onClick={back}>
        Back to now
      </button>
    </div>
  );
}
