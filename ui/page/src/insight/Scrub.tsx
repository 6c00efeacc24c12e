import { useStore } from "../app/hooks.js";
import { useScene } from "../conversation/scene.js";
import { Icon } from "../ui/Icon.js";

/** Goes to any event of the past, and shows the whole page as it was then. */
export function Scrub({ seq }: { seq: number }) {
  const { conversation, past } = useScene();
  const { at, loading } = useStore(past);
  const head = Math.max(conversation.get().context?.seq ?? seq, seq);
  const shown = Math.min(at ?? head, head);
  const go = (to: number): void => {
    if (!Number.isNaN(to)) {
      const wanted = Math.max(1, Math.min(head, Math.round(to)));
      past.go(wanted === head ? undefined : wanted);
    }
  };
  return (
    <div class="scrub" role="group" aria-label="Time">
      <button
        class="icon-button small"
        aria-label="One event back"
        disabled={shown <= 1}
        onClick={() => go(shown - 1)}
      >
        <Icon name="back" />
      </button>
      <input
        type="range"
        min={1}
        max={head}
        value={shown}
        aria-label="Event to look at"
        aria-valuetext={`event ${shown} of ${head}`}
        onInput={(event) => go(event.currentTarget.valueAsNumber)}
      />
      <button
        class="icon-button small"
        aria-label="One event on"
        disabled={at === undefined}
        onClick={() => go(shown + 1)}
      >
        <Icon name="right" />
      </button>
      <label class="scrub-seq">
        <span class="sr">Event number</span>
        <input
          type="number"
          min={1}
          max={head}
          value={shown}
          aria-busy={loading}
          onInput={(event) => go(event.currentTarget.valueAsNumber)}
        />
        <span class="quiet">of {head.toLocaleString("en")}</span>
      </label>
    </div>
  );
}
