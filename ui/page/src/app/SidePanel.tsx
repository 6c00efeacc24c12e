import { useEffect, useRef } from "preact/hooks";
import { Guarded } from "../ui/Guarded.js";
import { Icon } from "../ui/Icon.js";
import { type PanelId, PANELS } from "./panels.js";

interface SidePanelProps {
  readonly id: PanelId;
  /** True if somebody has opened it just now. */
  readonly byHand: boolean;
  /** What it is to show of all that it has: asked for anew, it takes the focus anew. */
  readonly asked: unknown;
  readonly onClose: () => void;
}

/** What stands beside a conversation. */
export function SidePanel({ id, byHand, asked, onClose }: SidePanelProps) {
  const { name, component: Component } = PANELS[id];
  const head = useRef<HTMLHeadingElement>(null);
  const before = useRef<Element | null>(null);
  useEffect(() => {
    if (byHand) {
      before.current = document.activeElement;
      head.current?.focus();
    }
  }, [id, asked]);
  const close = (): void => {
    onClose();
    // Whoever was in it goes on where they came from.
    if (before.current instanceof HTMLElement) {
      before.current.focus();
    }
  };
  return (
    <aside
      class="panel"
      aria-label={name}
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      <header class="panel-head">
        <h2 ref={head} tabIndex={-1}>
          {name}
        </h2>
        <button class="icon-button" aria-label={`Close ${name}`} onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">
        <Guarded what={name} of={id}>
          <Component />
        </Guarded>
      </div>
    </aside>
  );
}
