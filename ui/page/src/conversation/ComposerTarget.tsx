import type { Json } from "@parley/client";
import { useState } from "preact/hooks";
import { agentName, useSession } from "../app/session.js";
import { type PendingQuestion, kindOf } from "../questions/pending-questions.js";

/** The current question, and how to answer it. */
export interface ComposerQuestion {
  readonly question: PendingQuestion;
  /** True if its card is collapsed. */
  readonly folded: boolean;
  /** Sends an answer. False if it was rejected. */
  readonly onAnswer: (inputId: string, value: Json) => Promise<boolean>;
}

interface TargetProps {
  readonly pending: ComposerQuestion;
  /** True if the text answers the question. */
  readonly answers: boolean;
  readonly onAnswers: (answers: boolean) => void;
  /** The text in the composer. */
  readonly text: string;
  /** Called when the text was sent as the reason for a denial. */
  readonly onUsed: () => void;
  /** True if the text matches none of the choices. */
  readonly invalidChoice: boolean;
}

const WAITS: Readonly<Record<string, string>> = {
  approval: "is waiting for your approval above",
  form: "is waiting for the form above",
  "sign-in": "is waiting for you to sign in above",
};

/** Shows whether the text is an answer or a new message. */
export function ComposerTarget(props: TargetProps) {
  const { pending, answers, onAnswers, text, onUsed, invalidChoice } = props;
  const { state } = useSession();
  const [sent, setSent] = useState(false);
  const { question, onAnswer } = pending;
  const kind = kindOf(question);
  const who = agentName(state.agents, question.agentId);
  const answerable = kind === "text" || kind === "choice";
  const deny = async (): Promise<void> => {
    if (question.kind === "input-required") {
      setSent(true);
      if (await onAnswer(question.inputId, { approved: false, reason: text.trim() })) {
        onUsed();
      }
      setSent(false);
    }
  };
  return (
    <div class="composer-target" data-answers={answers || undefined}>
      <p class="composer-target-text" title={answers ? question.prompt : undefined}>
        {answers ? (
          <>
            <strong>Answer to {who}:</strong> {question.prompt}
          </>
        ) : (
          <>
            <strong>New message.</strong> {who}{" "}
            {answerable ? "is still waiting for your answer" : WAITS[kind]}.
          </>
        )}
      </p>
      {answerable && (
        <button type="button" class="button small" onClick={() => onAnswers(!answers)}>
          {answers ? "New message instead" : "Answer the question instead"}
        </button>
      )}
      {kind === "approval" && text.trim() !== "" && (
        <button type="button" class="button small" disabled={sent} onClick={() => void deny()}>
          Deny with this reason
        </button>
      )}
      {invalidChoice && (
        <p class="problem" role="alert">
          Type one of the choices, or its number.
        </p>
      )}
    </div>
  );
}

/** The label of the composer for an answer. */
export function answerLabel(question: PendingQuestion, who: string): string {
  return `Answer to ${who}: ${question.prompt}`;
}
