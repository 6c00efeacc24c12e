import type { AgentTypeInfo, InboxItem } from "@parley/client";
import { titleOf } from "@parley/client";
import { useEffect, useRef } from "preact/hooks";
import { go } from "../app/route.js";
import { agentName } from "../app/session.js";

/** More new questions than this are announced together. */
const SINGLE_MAX = 3;

/** True if this browser can show notifications of the system. */
export function canNotify(): boolean {
  return "Notification" in globalThis;
}

/** True if the user allowed notifications of the system. */
export function mayNotify(): boolean {
  return canNotify() && Notification.permission === "granted";
}

/** Shows what waits for the user on the tab and, while the page is hidden, as a notification. */
export function useNotifications(
  inbox: readonly InboxItem[],
  agents: readonly AgentTypeInfo[],
  loading: boolean,
): void {
  const known = useRef<Set<string> | undefined>(undefined);
  useEffect(() => {
    if (loading) {
      return;
    }
    const news = inbox.filter((one) => known.current?.has(keyOf(one)) === false);
    known.current = new Set(inbox.map(keyOf));
    if (document.hidden && mayNotify()) {
      announce(news, agents);
    }
  }, [inbox, loading]);
  useEffect(() => showBadge(inbox.length), [inbox.length]);
}

function keyOf({ contextId, seq }: InboxItem): string {
  return `${contextId}/${seq}`;
}

/** A notification may appear on a locked screen: it has no command and no content of files. */
function announce(news: readonly InboxItem[], agents: readonly AgentTypeInfo[]): void {
  if (news.length > SINGLE_MAX) {
    notify(`${news.length} questions wait for you`, "Open the inbox to answer them.", {});
    return;
  }
  for (const one of news) {
    const who = agentName(agents, one.agentId);
    const title = one.inputType === "confirmation" ? `${who} asks for approval` : `${who} asks you`;
    notify(title, titleOf(one), one);
  }
}

function notify(title: string, body: string, item: Partial<InboxItem>): void {
  const tag = item.contextId === undefined ? "parley" : `parley-${item.contextId}-${item.seq}`;
  try {
    const shown = new Notification(title, { body, tag });
    shown.onclick = () => {
      focus();
      go({ inbox: true });
      shown.close();
    };
  } catch {
    // Some mobile browsers allow notifications only from service workers.
  }
}

/** A dot on the icon of the tab, and the number on the icon of the installed page. */
function showBadge(n: number): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const { usual, waiting } = icon?.dataset ?? {};
  if (icon !== null && usual !== undefined && waiting !== undefined) {
    icon.href = n > 0 ? waiting : usual;
  }
  if ("setAppBadge" in navigator) {
    void navigator.setAppBadge(n).catch(() => undefined);
  }
}
