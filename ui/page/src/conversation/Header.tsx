import type { ConnectionState } from "@parley/client";
import { useRef, useState } from "preact/hooks";
import { type PanelId, PANELS, type Panel } from "../app/panels.js";
import { formatRoute, go } from "../app/route.js";
import { useSession } from "../app/session.js";
import { Pill } from "../connection/Pill.js";
import { Dialog } from "../ui/Dialog.js";
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
  const title = view.title?.trim() || "New conversation";
  if (typed === undefined) {
    return (
      <h2 class="title">
        <button title="Rename" onClick={() => setTyped(title)}>
          {title}
        </button>
      </h2>
    );
  }
  const done = (): void => {
    const next = typed.trim();
    setTyped(undefined);
    if (next !== "" && next !== title) {
      void conversation.rename(next.slice(0, 500));
    }
  };
  return <TitleInput typed={typed} onTyped={setTyped} onDone={done} />;
}

interface TitleInputProps {
  readonly typed: string;
  readonly onTyped: (typed: string | undefined) => void;
  readonly onDone: () => void;
}

function TitleInput({ typed, onTyped, onDone }: TitleInputProps) {
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
      onBlur={onDone}
      onKeyDown={(event) => {
        if (event.isComposing) {
          return;
        }
        if (event.key === "Enter") {
          onDone();
        } else if (event.key === "Escape") {
          onTyped(undefined);
        }
      }}
    />
  );
}

function Delete() {
  const { view } = useScene();
  const { api, home } = useSession();
  const [asked, setAsked] = useState(false);
  const [problem, setProblem] = useState<string>();
  const remove = async (): Promise<void> => {
    try {
      await api.deleteContext(view.contextId);
      home.refresh();
      go({});
    } catch (failure) {
      setProblem(failure instanceof Error ? failure.message : String(failure));
    }
  };
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
        <Dialog title="Delete this conversation?" onClose={() => setAsked(false)}>
          <p>
            All of it is removed from this machine, with its files, and what runs in it is stopped.
            Nobody can bring it back. Forks of it stay.
          </p>
          {problem !== undefined && (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
          <p class="dialog-actions">
            <button class="button" onClick={() => setAsked(false)}>
              Keep
            </button>
            <button class="button danger" onClick={() => void remove()}>
              Delete
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
}
