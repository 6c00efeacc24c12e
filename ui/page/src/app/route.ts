import { useEffect, useState } from "preact/hooks";

/** The current route: the part of the address after `#`. */
export interface Route {
  /** True for the inbox, which has no conversation. */
  readonly inbox: boolean;
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  /** The number of an event. */
  readonly seq: number | undefined;
  /** The event after which the past is shown; undefined for now. */
  readonly at: number | undefined;
  /** True if a part of the address is not valid. */
  readonly lost: boolean;
}

const INBOX = "inbox";

/**
 * Parses `#/inbox` and `#/c/{context}/t/{task}/e/{seq}/at/{seq}`; ignores missing or invalid parts.
 */
export function parseRoute(hash: string): Route {
  const said = hash.replace(/^#?\/?/, "").replace(/\/$/, "");
  const inbox = said === INBOX;
  const parts = said === "" || inbox ? [] : said.split("/").map(decode);
  const named = new Map<string, string>();
  for (let i = 0; i < parts.length; i += 2) {
    named.set(parts[i] ?? "", parts[i + 1] ?? "");
  }
  const route = {
    contextId: named.get("c") || undefined,
    taskId: named.get("t") || undefined,
    seq: numberOf(named.get("e")),
    at: numberOf(named.get("at")),
  };
  const read = Object.values(route).filter((one) => one !== undefined).length;
  return { ...route, inbox, lost: 2 * read < parts.length };
}

export function formatRoute(route: Partial<Route>): string {
  const part = (name: string, value: string | number | undefined): string =>
    value === undefined ? "" : `/${name}/${encodeURIComponent(value)}`;
  const { contextId, taskId, seq, at } = route;
  if (route.inbox === true) {
    return `#/${INBOX}`;
  }
  const rest = part("c", contextId) + part("t", taskId) + part("e", seq) + part("at", at);
  return `#${rest || "/"}`;
}

/**
 * Dispatched immediately after a change of the address; `hashchange` may follow only after the next
 * key press.
 */
const ROUTED = "parley-routed";
/** The address that was already announced when its `hashchange` arrives. */
let announced: string | undefined;

export function go(route: Partial<Route>): void {
  change(formatRoute(route));
}

/** Follows a link within the page immediately, so that the next key press goes to the new page. */
export function followLink(event: MouseEvent): void {
  const modified = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[href^="#/"]');
  if (link !== null && event.button === 0 && !modified && !event.defaultPrevented) {
    event.preventDefault();
    change(link.hash);
  }
}

function change(hash: string): void {
  const before = location.hash;
  location.hash = hash;
  if (location.hash !== before) {
    announced = location.hash;
    dispatchEvent(new Event(ROUTED));
  }
}

/** Replaces the current history entry and keeps its state. */
export function replace(route: Partial<Route>): void {
  history.replaceState(history.state, "", formatRoute(route));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Navigates, unless the user has left the conversation meanwhile. */
export function goFrom(contextId: string | undefined, route: Partial<Route>): void {
  const now = parseRoute(location.hash);
  if (!now.inbox && now.contextId === contextId) {
    go(route);
  }
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const changed = (): void => setRoute(parseRoute(location.hash));
    const moved = (): void => {
      if (location.hash !== announced) {
        changed();
      }
      announced = undefined;
    };
    addEventListener("hashchange", moved);
    addEventListener(ROUTED, changed);
    // The address may have changed before the listeners were added.
    if (formatRoute(parseRoute(location.hash)) !== formatRoute(route)) {
      changed();
    }
    return () => {
      removeEventListener("hashchange", moved);
      removeEventListener(ROUTED, changed);
    };
  }, []);
  return route;
}

function numberOf(part: string | undefined): number | undefined {
  const seq = Number(part);
  return Number.isSafeInteger(seq) && seq > 0 ? seq : undefined;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
