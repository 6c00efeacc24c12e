import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./Icon.js";

/** A box above the page, until it is closed; the browser sees to focus and Escape. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    box.current?.showModal();
  }, []);
  return (
    <dialog
      ref={box}
      class="dialog"
      aria-labelledby={id}
      onClose={props.onClose}
      onClick={(event) => event.target === box.current && box.current?.close()}
    >
      <div class="dialog-box">
        <header>
          <h2 id={id}>{props.title}</h2>
          <button class="icon-button" aria-label="Close" onClick={() => box.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
