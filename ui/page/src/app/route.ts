import { useEffect, useState } from "preact/hooks";

/** Where in the page one is: the part of the address behind `#`, so that links lead to it. */
export interface Route {
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  /** An event, by its number. */
  readonly seq: number | undefined;
  /** The event after which the past is looked at; now, if it is missing. */
  readonly at: number | undefined;
  /** True if there is more in the address, which cannot be read. */
  readonly lost: boolean;
}

/** Reads `#/c/{context}/t/{task}/e/{seq}/at/{seq}`; what is missing or nonsense is not there. */
export function parseRoute(hash: string): Route {
  const said = hash.replace(/^#?\/?/, "").replace(/\/$/, "");
  const parts = said === "" ? [] : said.split("/").map(decode);
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
  return { ...route, lost: 2 * read < parts.length };
}

export function formatRoute(route: Partial<Route>): string {
  const part = (name: string, value: string | number | undefined): string =>
    value === undefined ? "" : `/${name}/${encodeURIComponent(value)}`;
  const { contextId, taskId, seq, at } = route;
  const rest = part("c", contextId) + part("t", taskId) + part("e", seq) + part("at", at);
  return `#${rest || "/"}`;
}

/** Sent as soon as the address has changed; `hashchange` comes later, after keys perhaps. */
const ROUTED = "parley-routed";
/** The address that was announced already when its `hashchange` comes. */
let announced: string | undefined;

export function go(route: Partial<Route>): void {
  change(formatRoute(route));
}

/** Follows a link of the page at once, so that the next key finds the page that was clicked. */
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

/** Goes there without a step for Back; what is kept with this one stays. */
export function replace(route: Partial<Route>): void {
  history.replaceState(history.state, "", formatRoute(route));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Goes there, unless whoever looks has left the conversation meanwhile in which this was asked. */
export function goFrom(contextId: string | undefined, route: Partial<Route>): void {
  if (parseRoute(location.hash).contextId === contextId) {
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
    // It may have changed before anybody listened.
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
