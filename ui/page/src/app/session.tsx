import { type AgentTypeInfo, Home, ParleyApi, type HomeState } from "@parley/client";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Drafts } from "../conversation/drafts.js";
import type { Outboxes } from "../conversation/outboxes.js";

/** What every part of the page needs: whom it talks to, and what there is. */
export interface Session {
  readonly api: ParleyApi;
  readonly home: Home;
  readonly state: HomeState;
  readonly drafts: Drafts;
  readonly outboxes: Outboxes;
}

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) {
    throw new Error("there is no session here");
  }
  return session;
}

/** What people call an agent. */
export function agentName(agents: readonly AgentTypeInfo[], id: string | undefined): string {
  const known = agents.find((one) => one.id === id)?.name;
  return known ?? (id === undefined || id === "" ? "Agent" : id);
}

const TOKEN = "parley.token";

/** The token of this tab, if somebody gave it one. */
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
    // Without storage it lasts until the page is left.
  }
}

export function apiOf(token: string | undefined): ParleyApi {
  return new ParleyApi(token === undefined ? {} : { token });
}
