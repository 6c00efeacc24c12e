import {
  type AgentTypeInfo,
  type ContextList,
  type LiveClock,
  ParleyApi,
  type ContextListState,
} from "@parley/client";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Drafts } from "../conversation/drafts.js";
import type { Outboxes } from "../conversation/outboxes.js";

/** The shared state of the page. */
export interface Session {
  readonly api: ParleyApi;
  readonly contextList: ContextList;
  readonly state: ContextListState;
  readonly drafts: Drafts;
  readonly outboxes: Outboxes;
  /** The time for running clocks. */
  readonly clock: LiveClock;
}

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) {
    throw new Error("useSession is called outside of a session");
  }
  return session;
}

/** The display name of an agent. */
export function agentName(agents: readonly AgentTypeInfo[], id: string | undefined): string {
  const known = agents.find((one) => one.id === id)?.name;
  return known ?? (id === undefined || id === "" ? "Agent" : id);
}

const TOKEN = "parley.token";

/** The token of this tab, if any. */
export function storedToken(): string | undefined {
  try {
    return sessionStorage.getItem(TOKEN) ?? undefined;
  } catch {
    return undefined;
  }
}

export function storeToken(token: string | undefined): void {
  try {
    if (token === undefined) {
      sessionStorage.removeItem(TOKEN);
    } else {
      sessionStorage.setItem(TOKEN, token);
    }
  } catch {
    // Without storage the token lasts as long as the page.
  }
}

/** A way to sign in besides a token. */
export interface SignInOffer {
  readonly name: string;
  readonly url: string;
}

/** The ways to sign in that the server offers; none if it cannot be reached. */
export async function signInOffers(): Promise<readonly SignInOffer[]> {
  try {
    const reply = await fetch("/api/sign-in");
    return reply.ok ? ((await reply.json()) as { items: SignInOffer[] }).items : [];
  } catch {
    return [];
  }
}

/** The link that signs in, and returns to what the page shows now. */
export function signInLink(offer: SignInOffer): string {
  return `${offer.url}?to=${encodeURIComponent(`/${location.hash}`)}`;
}

export function apiOf(token: string | undefined): ParleyApi {
  return new ParleyApi(token === undefined ? {} : { token });
}
