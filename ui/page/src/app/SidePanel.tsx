import { useEffect, useRef } from "preact/hooks";
import { Guarded } from "../ui/Guarded.js";
import { Icon } from "../ui/Icon.js";
import { type PanelId, PANELS } from "./panels.js";

/** What stands beside a conversation. */
export function SidePanel({ id, onClose }: { id: PanelId; onClose: () => void }) {
  const { name, component: Component } = PANELS[id];
  const head = useRef<HTMLHeadingElement>(null);
  const before = useRef<Element | null>(null);
  useEffect(() => {
    before.current = document.activeElement;
    head.current?.focus();
  }, [id]);
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
