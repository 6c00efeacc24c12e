import type { ContextView, Conversation, Past, Thought } from "@parley/client";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Route } from "../app/route.js";

export type Verbosity = "none" | Thought["verbosity"];

/** The conversation that is being looked at, for all its parts. */
export interface Scene {
  readonly conversation: Conversation;
  /** As it is now, or as it was. */
  readonly view: ContextView;
  readonly past: Past;
  readonly thoughts: Verbosity;
  readonly route: Route;
}

export const Scene = createContext<Scene | undefined>(undefined);

export function useScene(): Scene {
  const scene = useContext(Scene);
  if (scene === undefined) {
    throw new Error("there is no conversation here");
  }
  return scene;
}

const ORDER: readonly Verbosity[] = ["none", "brief", "normal", "detailed"];

/** Whether a thought is shown to somebody who wants so much. */
export function tells(wanted: Verbosity, thought: Thought): boolean {
  return ORDER.indexOf(thought.verbosity) <= ORDER.indexOf(wanted);
}
