import type { Json } from "@parley/client";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { ConversationContext } from "../conversation/conversation-context.js";

/** Sends answers to questions. Each method returns whether the server accepted the answer. */
export interface Answers {
  answer(inputId: string, value: Json): Promise<boolean>;
  signIn(authId: string, credential: string): Promise<boolean>;
  skipSignIn(authId: string): Promise<boolean>;
}

/** A question in a list of questions, outside of its conversation. */
export interface ListedQuestion {
  readonly answers: Answers;
  /**
   * Changes when the card may have moved on the screen. A click or a key that was meant for another
   * card must not answer this one.
   */
  readonly place: string;
}

export const ListedContext = createContext<ListedQuestion | undefined>(undefined);

/** The list that shows the question; undefined in a conversation. */
export function useListed(): ListedQuestion | undefined {
  return useContext(ListedContext);
}

/** Where the answers go: to the open conversation, or to the list of questions. */
export function useAnswers(): Answers {
  const listed = useListed();
  const conversation = useContext(ConversationContext);
  const answers = listed?.answers ?? conversation?.conversation;
  if (answers === undefined) {
    throw new Error("useAnswers is called outside of a conversation and of a list");
  }
  return answers;
}
