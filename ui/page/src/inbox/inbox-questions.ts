import {
  type AuthRequired,
  type ContextList,
  type InboxItem,
  type InputRequired,
  type Json,
  newKey,
  ParleyError,
  type ParleyApi,
} from "@parley/client";
import { useMemo, useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import type { Answers } from "../questions/answers.js";
import { kindOf, type PendingQuestion } from "../questions/pending-questions.js";

/** A question of any conversation. */
export interface InboxQuestion {
  readonly id: string;
  readonly item: InboxItem;
  readonly question: PendingQuestion;
}

/** The open questions of all conversations, oldest first, and what was done with them here. */
export interface InboxQuestions {
  readonly questions: readonly InboxQuestion[];
  /** The number of answers that the server accepted. */
  readonly answered: number;
  /** Why the latest answer to a question was rejected, by question. */
  readonly problems: ReadonlyMap<string, string>;
  readonly answersTo: (one: InboxQuestion) => Answers;
}

/** True if the question is an approval of a tool call. */
export function isApproval({ question }: InboxQuestion): boolean {
  return kindOf(question) === "approval";
}

export function inboxQuestionsOf(inbox: readonly InboxItem[]): InboxQuestion[] {
  const questions = inbox.map((item) => ({ id: idOf(item), item, question: questionOf(item) }));
  return questions.sort((a, b) => a.item.timestamp.localeCompare(b.item.timestamp));
}

function idOf({ inputId, authId, contextId }: InboxItem): string {
  return `${contextId}/${inputId ?? authId ?? ""}`;
}

/** The event of the question, as far as the item repeats it. */
function questionOf(item: InboxItem): PendingQuestion {
  const { kind, ...rest } = item;
  return kind === "auth"
    ? ({ ...rest, kind: "auth-required" } as AuthRequired)
    : ({ ...rest, kind: "input-required" } as InputRequired);
}

/** The questions of the inbox. Answered ones disappear before the next poll. */
export function useInboxQuestions(): InboxQuestions {
  const { api, contextList, state } = useSession();
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const all = useMemo(() => inboxQuestionsOf(state.inbox), [state.inbox]);
  const questions = useMemo(() => all.filter(({ id }) => !done.has(id)), [all, done]);
  const report = (id: string, problem: string | undefined): void => {
    if (problem === undefined) {
      setDone((before) => new Set(before).add(id));
    } else {
      setProblems((before) => new Map(before).set(id, problem));
    }
  };
  const answersTo = ({ id, item }: InboxQuestion): Answers =>
    answersOf(api, item.contextId, contextList, (problem) => report(id, problem));
  return { questions, answered: done.size, problems, answersTo };
}

function answersOf(
  api: ParleyApi,
  contextId: string,
  contextList: ContextList,
  report: (problem: string | undefined) => void,
): Answers {
  const attempt = async (send: (idempotencyKey: string) => Promise<unknown>): Promise<boolean> => {
    try {
      await send(newKey());
      report(undefined);
      return true;
    } catch (failure) {
      report(problemOf(failure));
      return false;
    } finally {
      contextList.refresh();
    }
  };
  return {
    answer: (inputId: string, value: Json) =>
      attempt((idempotencyKey) => api.answer(contextId, inputId, value, { idempotencyKey })),
    signIn: (authId, credential) =>
      attempt((idempotencyKey) =>
        api.signIn(contextId, authId, { credential }, { idempotencyKey }),
      ),
    skipSignIn: (authId) =>
      attempt((idempotencyKey) =>
        api.signIn(contextId, authId, { skipped: true }, { idempotencyKey }),
      ),
  };
}

function problemOf(failure: unknown): string {
  if (failure instanceof ParleyError && failure.status === 0) {
    return "The server does not respond. Try again when it is back.";
  }
  return failure instanceof Error ? failure.message : String(failure);
}
