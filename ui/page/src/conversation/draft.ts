import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import { idOf, kindOf } from "../ask/asks.js";
import type { ComposerAsk } from "./ComposerTarget.js";

interface Draft {
  /** What is written: a message, or an answer. */
  readonly content: string;
  /** True if it answers what is asked. */
  readonly answers: boolean;
  /** False until it is known what a question that has just come up makes of it. */
  readonly decided: boolean;
  /** Chooses what it is; `carry` takes what is written along. */
  readonly setAnswers: (answers: boolean, carry?: boolean) => void;
  readonly write: (text: string) => void;
  readonly writeAnswer: (askId: string, text: string) => void;
  /** An answer was not taken. It is there again: as a message, if the question is gone. */
  readonly giveBack: (askId: string, text: string) => void;
  /** Writes a message, whatever is being written. */
  readonly writeMessage: (text: string) => void;
}

/**
 * What is being written. A question takes the composer over, unless a message is begun in it: that
 * stays one. What was typed before the conversation had loaded is for what it asks.
 */
export function useDraft(
  contextId: string | undefined,
  asked: ComposerAsk | undefined,
  { loading, goesOn, open }: { loading: boolean; goesOn: boolean; open: readonly string[] },
): Draft {
  const { drafts } = useSession();
  const [, draw] = useReducer((n: number) => n + 1, 0);
  const early = useRef(contextId !== undefined && (goesOn || drafts.text(contextId) === ""));
  const [target, setTarget] = useState<{ askId: string; answers: boolean }>();
  const ask = asked && ["text", "choice"].includes(kindOf(asked.ask)) ? asked.ask : undefined;
  const askId = ask && idOf(ask);
  const answers = askId !== undefined && target?.askId === askId && target.answers;
  useLayoutEffect(() => {
    if (target !== undefined && target.askId !== askId && !open.includes(target.askId)) {
      // Nobody wants this answer any more. It may be said, but answers nothing else by itself.
      const left = drafts.answerText(target.askId);
      drafts.answered(target.askId);
      if (left.trim() !== "") {
        drafts.write(contextId, joined(drafts.text(contextId), left));
      }
    }
    const typed = drafts.text(contextId);
    const takes = typed.trim() === "" || early.current;
    if (askId !== undefined && takes) {
      drafts.writeAnswer(askId, "text", joined(drafts.answerText(askId), typed));
      drafts.write(contextId, "");
    }
    setTarget(askId === undefined ? undefined : { askId, answers: takes });
  }, [askId]);
  useLayoutEffect(() => {
    early.current &&= loading;
  }, [loading]);
  const writeMessage = (text: string): void => {
    drafts.write(contextId, text);
    draw(undefined);
  };
  const writeAnswer = (id: string, text: string): void => {
    drafts.writeAnswer(id, "text", text);
    draw(undefined);
  };
  const opened = useRef(open);
  opened.current = open;
  const giveBack = (id: string, text: string): void =>
    opened.current.includes(id)
      ? writeAnswer(id, joined(text, drafts.answerText(id)))
      : writeMessage(joined(text, drafts.text(contextId)));
  const write = (text: string): void =>
    answers ? writeAnswer(askId, text) : writeMessage(text);
  const setAnswers = (next: boolean, carry = false): void => {
    if (askId === undefined) {
      return;
    }
    const [answer, message] = [drafts.answerText(askId), drafts.text(contextId)];
    if (carry && (next ? answer : message).trim() === "") {
      drafts.writeAnswer(askId, "text", next ? message : "");
      drafts.write(contextId, next ? "" : answer);
    }
    setTarget({ askId, answers: next });
  };
  const content = answers ? drafts.answerText(askId) : drafts.text(contextId);
  const decided = target?.askId === askId;
  return { content, answers, decided, setAnswers, write, writeAnswer, giveBack, writeMessage };
}

/** Two texts below one another; one of them, if the other says nothing. */
export function joined(first: string, second: string): string {
  return [first, second].filter((text) => text.trim() !== "").join("\n\n");
}
