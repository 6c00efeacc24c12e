import {
  type ArtifactVersion,
  type ContextView,
  type Conversation,
  type Past,
  type Thought,
  view,
} from "@parley/client";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Route } from "../app/route.js";

export type Verbosity = "none" | Thought["verbosity"];

/** What holds for a conversation while text streams in: rows that use only this are left alone. */
export interface Setting {
  readonly conversation: Conversation;
  readonly past: Past;
  readonly thoughts: Verbosity;
  readonly route: Route;
  /** The task that the address leads to, or that its event is of; and its place, if that is inner. */
  readonly link: { readonly taskId: string | undefined; readonly place: string | undefined };
  /** Messages that are being said again in other words, by id, until that has succeeded. */
  readonly edits: Map<string, string>;
  /** True while a task is at work or waits: now, also while the past is looked at. */
  readonly busy: boolean;
  /** The artifact that was pressed in the conversation last, while the panel is open that shows it. */
  readonly pressed: ArtifactVersion | undefined;
  readonly press: (version: ArtifactVersion) => void;
  /** Goes to the end of the conversation, and stays there while it grows. */
  readonly follow: () => void;
  /** The time that is looked at, if it is past: what was at work then has got no further. */
  readonly asOf: number | undefined;
}

/** The conversation that is being looked at, with what it shows just now. */
export interface Scene extends Setting {
  /** As it is now, or as it was. */
  readonly view: ContextView;
}

export const SettingContext = createContext<Setting | undefined>(undefined);
export const ViewContext = createContext<ContextView | undefined>(undefined);

export function useSetting(): Setting {
  const setting = useContext(SettingContext);
  if (setting === undefined) {
    throw new Error("there is no conversation here");
  }
  return setting;
}

/** All of it: for what is drawn anew with every frame anyway. */
export function useScene(): Scene {
  const setting = useSetting();
  const shown = useContext(ViewContext);
  if (shown === undefined) {
    throw new Error("there is no conversation here");
  }
  return { ...setting, view: shown };
}

/** What is shown just now, for those who only want to know when something is pressed. */
export function viewShown({ conversation, past, asOf }: Setting): ContextView | undefined {
  const shown = asOf === undefined ? conversation.get().shown : past.get().context;
  return shown && view(shown);
}

const ORDER: readonly Verbosity[] = ["none", "brief", "normal", "detailed"];

/** Whether a thought is shown to somebody who wants so much. */
export function tells(wanted: Verbosity, thought: Thought): boolean {
  return ORDER.indexOf(thought.verbosity) <= ORDER.indexOf(wanted);
}
