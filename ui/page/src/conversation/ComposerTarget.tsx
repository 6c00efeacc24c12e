import type { Json } from "@parley/client";
import { useState } from "preact/hooks";
import { agentName, useSession } from "../app/session.js";
import { type Ask, kindOf } from "../ask/asks.js";

/** What is asked in the conversation that a composer writes to, and how to answer it. */
export interface ComposerAsk {
  readonly ask: Ask;
  /** True if only the head of its card is shown. */
  readonly folded: boolean;
  /** Sends an answer. False if it was not taken. */
  readonly onAnswer: (inputId: string, value: Json) => Promise<boolean>;
}

interface TargetProps {
  readonly asked: ComposerAsk;
  /** True if what is written answers the question. */
  readonly answers: boolean;
  readonly onAnswers: (answers: boolean) => void;
  /** What is written. */
  readonly text: string;
  /** What is written was given as the reason for a refusal. */
  readonly onUsed: () => void;
  /** True if it is none of the choices. */
  readonly misfit: boolean;
}

const WAITS: Readonly<Record<string, string>> = {
  approval: "waits for your approval above",
  form: "waits for the form above",
  "sign-in": "waits for you to sign in above",
};

/** Says what becomes of a text while something is asked: an answer, or a new message. */
export function ComposerTarget(props: TargetProps) {
  const { asked, answers, onAnswers, text, onUsed, misfit } = props;
  const { state } = useSession();
  const [sent, setSent] = useState(false);
  const { ask, onAnswer } = asked;
  const kind = kindOf(ask);
  const who = agentName(state.agents, ask.agentId);
  const answerable = kind === "text" || kind === "choice";
  const deny = async (): Promise<void> => {
    if (ask.kind === "input-required") {
      setSent(true);
      if (await onAnswer(ask.inputId, { approved: false, reason: text.trim() })) {
        onUsed();
      }
      setSent(false);
    }
  };
  return (
    <div class="composer-target" data-answers={answers || undefined}>
      <p class="composer-target-text" title={answers ? ask.prompt : undefined}>
        {answers ? (
          <>
            <strong>Answer to {who}:</strong> {ask.prompt}
          </>
        ) : (
          <>
            <strong>New message.</strong> {who}{" "}
            {answerable ? "still waits for your answer" : WAITS[kind]}.
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
      {misfit && (
        <p class="problem" role="alert">
          Type one of the choices, or its number.
        </p>
      )}
    </div>
  );
}

/** What a composer is called while it answers. */
export function answerLabel(ask: Ask, who: string): string {
  return `Answer to ${who}: ${ask.prompt}`;
}
