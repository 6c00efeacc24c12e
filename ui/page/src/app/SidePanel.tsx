import { useEffect, useRef } from "preact/hooks";
import { ErrorBoundary } from "../ui/ErrorBoundary.js";
import { Icon } from "../ui/Icon.js";
import { type PanelId, PANELS } from "./panels.js";

interface SidePanelProps {
  readonly id: PanelId;
  /** True if the user has just opened it. */
  readonly byHand: boolean;
  /** What the panel should show: a new value focuses it again. */
  readonly request: unknown;
  readonly onClose: () => void;
}

/** A panel beside the conversation. */
export function SidePanel({ id, byHand, request, onClose }: SidePanelProps) {
  const { name, component: Component } = PANELS[id];
  const head = useRef<HTMLHeadingElement>(null);
  const before = useRef<Element | null>(null);
  useEffect(() => {
    if (byHand) {
      before.current = document.activeElement;
      head.current?.focus();
    }
  }, [id, request]);
  const close = (): void => {
    onClose();
    // Return the focus to where it was.
    if (before.current instanceof HTMLElement) {
      before.current.focus();
    }
  };
  return (
    <aside class="panel" aria-label={name} onKeyDown={(event) => event.key === "Escape" && close()}>
      <header class="panel-head">
        <h2 ref={head} tabIndex={-1}>
          {name}
        </h2>
        <button type="button" class="icon-button" aria-label={`Close ${name}`} onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">
        <ErrorBoundary what={name} of={id}>
          <Component />
        </ErrorBoundary>
      </div>
    </aside>
  );
}
