import { useStore } from "../app/hooks.js";
import { useConversationView } from "../conversation/conversation-context.js";
import { Icon } from "../ui/Icon.js";

/** A slider that shows the page as of any event. */
export function TimeSlider({ seq }: { seq: number }) {
  const { conversation, past } = useConversationView();
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
    <div class="time-slider" role="group" aria-label="Time">
      <button
        type="button"
        class="icon-button small"
        aria-label="Previous event"
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
        aria-label="Event to show"
        aria-valuetext={`event ${shown} of ${head}`}
        onInput={(event) => go(event.currentTarget.valueAsNumber)}
      />
      <button
        type="button"
        class="icon-button small"
        aria-label="Next event"
        disabled={at === undefined}
        onClick={() => go(shown + 1)}
      >
        <Icon name="right" />
      </button>
      <label class="time-slider-seq">
        <span class="sr-only">Event number</span>
        <input
          type="number"
          min={1}
          max={head}
          value={shown}
          aria-busy={loading}
          onInput={(event) => go(event.currentTarget.valueAsNumber)}
        />
        <span class="muted">of {head.toLocaleString("en")}</span>
      </label>
    </div>
  );
}
