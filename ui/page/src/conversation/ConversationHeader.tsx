import type { ConnectionState } from "@parley/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { type PanelId, PANELS, type Panel } from "../app/panels.js";
import { formatRoute, goFrom } from "../app/route.js";
import { ConnectionStatus } from "../connection/ConnectionStatus.js";
import { DeleteDialog } from "../list/DeleteDialog.js";
import { useFocus } from "../ui/focus.js";
import { Icon } from "../ui/Icon.js";
import { useConversationView, useConversation } from "./conversation-context.js";

interface HeaderProps {
  readonly panel: PanelId | undefined;
  readonly onPanel: (id: PanelId) => void;
  readonly thoughts: string;
  readonly onThoughts: (verbosity: string) => void;
  readonly connection: ConnectionState | undefined;
}

/** The title, the connection status and the panel buttons of a conversation. */
export function ConversationHeader({
  panel,
  onPanel,
  thoughts,
  onThoughts,
  connection,
}: HeaderProps) {
  const { asOf } = useConversation();
  return (
    <header class="conversation-head">
      <a class="icon-button to-list" href={formatRoute({})} aria-label="All conversations">
        <Icon name="back" />
      </a>
      <Title />
      <ConnectionStatus connection={connection} past={asOf !== undefined} />
      <label class="pick thoughts" title="Thoughts to show">
        <span class="sr-only">Thoughts to show</span>
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
          type="button"
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
  const { conversation, view } = useConversationView();
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
        <button type="button" ref={button} title="Rename" onClick={() => setTyped(title)}>
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
  // Removing the field triggers blur, which must not rename again.
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
  /** Called when a key ends the editing; `keep` is true for Enter. */
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
  const { view } = useConversationView();
  const [asked, setAsked] = useState(false);
  return (
    <>
      <button
        type="button"
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
