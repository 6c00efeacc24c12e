import {
  type ArtifactVersion,
  type ContextState,
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

/** Values that do not change while text streams in: rows that use only these are not redrawn. */
export interface ConversationContextValue {
  readonly conversation: Conversation;
  readonly past: Past;
  readonly thoughts: Verbosity;
  readonly route: Route;
  /** The task of the address or of its event, and the row key if it is inside a sub-agent. */
  readonly link: { readonly taskId: string | undefined; readonly rowKey: string | undefined };
  /** Edited messages, by id, until they have been sent. */
  readonly edits: Map<string, string>;
  /** True while a task is working or waiting now, even if the past is shown. */
  readonly busy: boolean;
  /** The artifact that was last opened from the conversation, while its panel is open. */
  readonly openedArtifact: ArtifactVersion | undefined;
  readonly openArtifact: (version: ArtifactVersion) => void;
  /** Scrolls to the end of the conversation and follows it. */
  readonly follow: () => void;
  /** The time that is shown, if it is in the past: durations end there. */
  readonly asOf: number | undefined;
}

/** The conversation with its current view. */
export interface ConversationViewValue extends ConversationContextValue {
  /** The state of now or of the past. */
  readonly state: ContextState;
  /** The view of this state. */
  readonly view: ContextView;
}

export const ConversationContext = createContext<ConversationContextValue | undefined>(undefined);
export const StateContext = createContext<ContextState | undefined>(undefined);

export function useConversation(): ConversationContextValue {
  const context = useContext(ConversationContext);
  if (context === undefined) {
    throw new Error("useConversation is called outside of a conversation");
  }
  return context;
}

/** The conversation and its view, for components that redraw with every frame. */
export function useConversationView(): ConversationViewValue {
  const context = useConversation();
  const shown = useContext(StateContext);
  if (shown === undefined) {
    throw new Error("useConversation is called outside of a conversation");
  }
  return { ...context, state: shown, view: view(shown) };
}

/** The current view, for event handlers. */
export function currentView({
  conversation,
  past,
  asOf,
}: ConversationContextValue): ContextView | undefined {
  const shown = asOf === undefined ? conversation.get().shown : past.get().context;
  return shown && view(shown);
}

const ORDER: readonly Verbosity[] = ["none", "brief", "normal", "detailed"];

/** True if a thought is shown at this verbosity. */
export function showsThought(wanted: Verbosity, thought: Thought): boolean {
  return ORDER.indexOf(thought.verbosity) <= ORDER.indexOf(wanted);
}
