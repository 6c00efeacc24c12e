import type { ConnectionState } from "@parley/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { type PanelId, PANELS, type Panel } from "../app/panels.js";
import { formatRoute, goFrom } from "../app/route.js";
import { Pill } from "../connection/Pill.js";
import { DeleteDialog } from "../list/DeleteDialog.js";
import { useFocus } from "../ui/focus.js";
import { Icon } from "../ui/Icon.js";
import { useScene, useSetting } from "./scene.js";

interface HeaderProps {
  readonly panel: PanelId | undefined;
  readonly onPanel: (id: PanelId) => void;
  readonly thoughts: string;
  readonly onThoughts: (verbosity: string) => void;
  readonly connection: ConnectionState | undefined;
}

/** The title of a conversation, how it is connected, and what can stand beside it. */
export function Header({ panel, onPanel, thoughts, onThoughts, connection }: HeaderProps) {
  const { asOf } = useSetting();
  return (
    <header class="head">
      <a class="icon-button to-list" href={formatRoute({})} aria-label="All conversations">
        <Icon name="back" />
      </a>
      <Title />
      <Pill connection={connection} past={asOf !== undefined} />
      <label class="pick thoughts" title="Thoughts that are shown">
        <span class="sr">Thoughts that are shown</span>
        <Icon name="thought" />
        <select value={thoughts} onChange={(event) => onThoughts(event.currentTarget.value)}>
          <option value="none">No thoughts</option>
          <option value="brief">Brief thoughts</option>
          <option value="normal">Thoughts</option>
          <option value="detailed">All thoughts</option>
        </select>
      </label>
      {(Object.entries(PANELS) as [PanelId, Panel][]).map(([id, { name, icon }]) => (
        <button
          key={id}
          class="icon-button"
          aria-label={name}
          title={name}
          aria-pressed={id === panel}
          onClick={() => onPanel(id)}
        >
          <Icon name={icon} />
        </button>
      ))}
      <Delete />
    </header>
  );
}

function Title() {
  const { conversation, view } = useScene();
  const [typed, setTyped] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  const keyed = useRef(false);
  useEffect(() => {
    if (typed === undefined && keyed.current) {
      keyed.current = false;
      button.current?.focus();
    }
  }, [typed]);
  const title = view.title?.trim() || "New conversation";
  if (typed === undefined) {
    return (
      <h2 class="title">
        <button ref={button} title="Rename" onClick={() => setTyped(title)}>
          {title}
        </button>
      </h2>
    );
  }
  const done = (keep: boolean): void => {
    const next = typed.trim();
    setTyped(undefined);
    if (keep && next !== "" && next !== title) {
      void conversation.rename(next.slice(0, 500));
    }
  };
  // A field that is taken away loses the focus, which must not rename once more.
  const leave = (keep: boolean): void => {
    keyed.current = true;
    done(keep);
  };
  const left = (): void => {
    if (!keyed.current) {
      done(true);
    }
  };
  return <TitleInput typed={typed} onTyped={setTyped} onKey={leave} onLeft={left} />;
}

interface TitleInputProps {
  readonly typed: string;
  readonly onTyped: (typed: string) => void;
  /** A key ended it: whether what was typed counts. */
  readonly onKey: (keep: boolean) => void;
  readonly onLeft: () => void;
}

function TitleInput({ typed, onTyped, onKey, onLeft }: TitleInputProps) {
  const box = useRef<HTMLInputElement>(null);
  useFocus(box);
  return (
    <input
      ref={box}
      class="title"
      aria-label="Title"
      maxLength={500}
      value={typed}
      onInput={(event) => onTyped(event.currentTarget.value)}
      onBlur={onLeft}
      onKeyDown={(event) => {
        if (!event.isComposing && (event.key === "Enter" || event.key === "Escape")) {
          onKey(event.key === "Enter");
        }
      }}
    />
  );
}

function Delete() {
  const { view } = useScene();
  const [asked, setAsked] = useState(false);
  return (
    <>
      <button
        class="icon-button"
        aria-label="Delete conversation"
        title="Delete conversation"
        onClick={() => setAsked(true)}
      >
        <Icon name="trash" />
      </button>
      {asked && (
        <DeleteDialog
          contextId={view.contextId}
          onDeleted={() => goFrom(view.contextId, {})}
          onClose={() => setAsked(false)}
        />
      )}
    </>
  );
}
