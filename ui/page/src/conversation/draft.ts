import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import { idOf, kindOf } from "../questions/pending-questions.js";
import type { ComposerQuestion } from "./ComposerTarget.js";

interface Draft {
  /** The text of the message or answer. */
  readonly content: string;
  /** True if the text answers the question. */
  readonly answers: boolean;
  /** False until a new question has been assigned a target. */
  readonly decided: boolean;
  /** Switches between answer and message; `carry` keeps the text. */
  readonly setAnswers: (answers: boolean, carry?: boolean) => void;
  readonly write: (text: string) => void;
  readonly writeAnswer: (questionId: string, text: string) => void;
  /** Restores a rejected answer, as a message if the question is gone. */
  readonly giveBack: (questionId: string, text: string) => void;
  /** Sets the text of the message. */
  readonly writeMessage: (text: string) => void;
}

/**
 * The text in the composer. A new question takes over the composer, unless a message was started.
 * Text typed before the conversation has loaded is for its question.
 */
export function useDraft(
  contextId: string | undefined,
  pending: ComposerQuestion | undefined,
  {
    loading,
    continuesTyping,
    open,
  }: { loading: boolean; continuesTyping: boolean; open: readonly string[] },
): Draft {
  const { drafts } = useSession();
  const [, draw] = useReducer((n: number) => n + 1, 0);
  const early = useRef(
    contextId !== undefined && (continuesTyping || drafts.text(contextId) === ""),
  );
  const [target, setTarget] = useState<{ questionId: string; answers: boolean }>();
  const question =
    pending && ["text", "choice"].includes(kindOf(pending.question)) ? pending.question : undefined;
  const questionId = question && idOf(question);
  const answers = questionId !== undefined && target?.questionId === questionId && target.answers;
  useLayoutEffect(() => {
    if (
      target !== undefined &&
      target.questionId !== questionId &&
      !open.includes(target.questionId)
    ) {
      // The question is gone. Keep the text as a message; it must not answer another question.
      const left = drafts.answerText(target.questionId);
      drafts.answered(target.questionId);
      if (left.trim() !== "") {
        drafts.write(contextId, joined(drafts.text(contextId), left));
      }
    }
    const typed = drafts.text(contextId);
    const takes = typed.trim() === "" || early.current;
    if (questionId !== undefined && takes) {
      drafts.writeAnswer(questionId, "text", joined(drafts.answerText(questionId), typed));
      drafts.write(contextId, "");
    }
    setTarget(questionId === undefined ? undefined : { questionId, answers: takes });
  }, [questionId]);
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
    answers ? writeAnswer(questionId, text) : writeMessage(text);
  const setAnswers = (next: boolean, carry = false): void => {
    if (questionId === undefined) {
      return;
    }
    const [answer, message] = [drafts.answerText(questionId), drafts.text(contextId)];
    if (carry && (next ? answer : message).trim() === "") {
      drafts.writeAnswer(questionId, "text", next ? message : "");
      drafts.write(contextId, next ? "" : answer);
    }
    setTarget({ questionId, answers: next });
  };
  const content = answers ? drafts.answerText(questionId) : drafts.text(contextId);
  const decided = target?.questionId === questionId;
  return { content, answers, decided, setAnswers, write, writeAnswer, giveBack, writeMessage };
}

/** Joins two texts; ignores blank ones. */
export function joined(first: string, second: string): string {
  return [first, second].filter((text) => text.trim() !== "").join("\n\n");
}
