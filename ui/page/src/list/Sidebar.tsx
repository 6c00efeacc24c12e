import {
  type ContextInfo,
  groupsOf,
  type ContextListState,
  type TaskState,
  titleOf,
} from "@parley/client";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { NARROW, useKeys, useMedia, useNow } from "../app/hooks.js";
import { formatRoute, go } from "../app/route.js";
import { useSession } from "../app/session.js";
import { isCommand, isNavigation } from "../app/typing.js";
import { Icon } from "../ui/Icon.js";
import { ago } from "../ui/format.js";
import { DeleteDialog } from "./DeleteDialog.js";

/** The number of conversations shown per group, until expanded. */
const SHOWN = 60;
const MINUTE_MS = 60_000;
/** Labels of conversations whose last task did not succeed. */
const ENDS: ReadonlyMap<TaskState | undefined, string> = new Map([
  ["failed", "failed"],
  ["canceled", "stopped"],
]);

interface SidebarProps {
  readonly selected: string | undefined;
  /** True if the inbox is open. */
  readonly inbox: boolean;
  /** Shows the keyboard shortcuts. */
  readonly onKeys: () => void;
}

/** All conversations, grouped by status. */
export function Sidebar({ selected, inbox, onKeys }: SidebarProps) {
  const { contextList, state } = useSession();
  const [words, setWords] = useState("");
  const search = useRef<HTMLInputElement>(null);
  const groups = useMemo(() => groupsOf(state, words), [state, words]);
  const order = [...groups.needsYou, ...groups.running, ...groups.done];
  useKeys((event) => {
    if (isCommand(event) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      search.current?.focus();
    }
    if (!isNavigation(event)) {
      return;
    }
    const at = order.findIndex((one) => one.contextId === selected);
    const targets: Readonly<Record<string, ContextInfo | undefined>> = {
      KeyJ: order[at + 1],
      KeyK: order[Math.max(at - 1, 0)],
      KeyG: groups.needsYou[0],
    };
    if (event.code in targets) {
      event.preventDefault();
      const next = targets[event.code];
      if (next !== undefined) {
        go({ contextId: next.contextId });
      }
    }
  });
  const nothing = order.length === 0;
  const narrow = useMedia(NARROW);
  const searches = words.trim() !== "";
  useEffect(() => contextList.setSearching(searches), [contextList, searches]);
  return (
    <nav class="sidebar" aria-label="Conversations">
      <header class="sidebar-head">
        <a class="brand" href={formatRoute({})}>
          Parley
        </a>
        <a class="button small" href={formatRoute({})} aria-label="New conversation">
          <Icon name="plus" /> New
        </a>
      </header>
      <a
        class="inbox-link"
        href={formatRoute({ inbox: true })}
        aria-current={inbox ? "page" : undefined}
      >
        <Icon name="inbox" />
        <span>Inbox</span>
        {state.inbox.length > 0 && <span class="badge">{state.inbox.length}</span>}
      </a>
      <div class="search">
        <Icon name="search" />
        <input
          ref={search}
          type="search"
          placeholder="Search"
          aria-label="Search conversations"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        />
      </div>
      <div class="groups" tabIndex={-1}>
        {!(narrow && selected === undefined && words === "") && (
          <Group name="Needs you" mark="needs" items={groups.needsYou} selected={selected} />
        )}
        <Group name="Running" mark="runs" items={groups.running} selected={selected} />
        <Group name="Done" mark="done" items={groups.done} selected={selected} />
        {nothing && <p class="muted empty">{emptyWords(state, words)}</p>}
        {!searches && <More />}
      </div>
      <button type="button" class="button muted small sidebar-keys" onClick={onKeys}>
        Keyboard shortcuts
      </button>
      {state.error !== undefined && !nothing && (
        <p class="sidebar-note" role="status">
          The list is not up to date: {state.error.message}
        </p>
      )}
    </nav>
  );
}

/** Conversations that need the user, at the top on narrow screens. */
export function NeedsYou() {
  const { state } = useSession();
  const needsYou = useMemo(() => groupsOf(state).needsYou, [state]);
  return useMedia(NARROW) ? (
    <Group name="Needs you" mark="needs" items={needsYou} selected={undefined} />
  ) : null;
}

function emptyWords({ error, loading, searching }: ContextListState, words: string): string {
  if (error !== undefined) {
    return `Can’t load the list: ${error.message}. Retrying automatically.`;
  }
  if (loading) {
    return "Loading…";
  }
  if (searching) {
    return "Searching…";
  }
  return words.trim() === ""
    ? "No conversations yet. Send a message to start one."
    : `No results for “${words}”`;
}

function More() {
  const { contextList, state } = useSession();
  return state.more ? (
    <button type="button" class="button muted wide" onClick={() => contextList.loadMore()}>
      Older conversations
    </button>
  ) : null;
}

interface GroupProps {
  readonly name: string;
  readonly mark: "needs" | "runs" | "done";
  readonly items: readonly ContextInfo[];
  readonly selected: string | undefined;
}

function Group({ name, mark, items, selected }: GroupProps) {
  const [all, setAll] = useState(false);
  const now = useNow(MINUTE_MS);
  if (items.length === 0) {
    return null;
  }
  const shown = all ? items : items.slice(0, SHOWN);
  return (
    <section class="group" data-group={mark}>
      <h2>
        {name} <span class="count">{items.length}</span>
      </h2>
      <ul>
        {shown.map((one) => (
          <ConversationItem
            key={one.contextId}
            context={one}
            mark={mark}
            now={now}
            current={one.contextId === selected}
          />
        ))}
      </ul>
      {shown.length < items.length && (
        <button type="button" class="button muted wide" onClick={() => setAll(true)}>
          All {items.length}
        </button>
      )}
    </section>
  );
}

interface ConversationItemProps {
  readonly context: ContextInfo;
  readonly mark: GroupProps["mark"];
  readonly now: number;
  readonly current: boolean;
}

/** A conversation in the list, with a delete button. */
function ConversationItem({ context, mark, now, current }: ConversationItemProps) {
  const [asked, setAsked] = useState(false);
  const { contextId } = context;
  const title = titleOf(context);
  const ended = mark === "done" ? ENDS.get(context.lastStatus) : undefined;
  const deleted = (): void => {
    setAsked(false);
    if (current) {
      go({});
    }
  };
  return (
    <li class="entry-box">
      <a
        class="entry"
        href={formatRoute({ contextId })}
        aria-current={current ? "page" : undefined}
        aria-keyshortcuts="Delete"
        onKeyDown={(event) => event.key === "Delete" && setAsked(true)}
      >
        <span class={`dot ${ended ?? mark}`} aria-hidden="true" />
        <span class="entry-title">{title}</span>
        <span class="entry-time">
          {ended !== undefined && <span class="entry-end">{ended}</span>}{" "}
          {ago(context.updatedAt, now)}
        </span>
      </a>
      <button
        type="button"
        class="icon-button small entry-delete"
        tabIndex={-1}
        aria-hidden="true"
        title="Delete"
        onClick={() => setAsked(true)}
      >
        <Icon name="trash" />
      </button>
      {asked && (
        <DeleteDialog
          contextId={contextId}
          title={title}
          onDeleted={deleted}
          onClose={() => setAsked(false)}
        />
      )}
    </li>
  );
}
