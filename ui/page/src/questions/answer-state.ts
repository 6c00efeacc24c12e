import type { Json } from "@parley/client";
import { useRef, useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import { useAnswers } from "./answers.js";

/** A part of an answer, stored as a draft. */
export function useAnswerDraft<T>(
  questionId: string,
  part: string,
  first: T,
): [T, (value: T) => void] {
  const { drafts } = useSession();
  const [value, setValue] = useState(
    () => (drafts.answer(questionId, part) as T | undefined) ?? first,
  );
  return [
    value,
    (next) => {
      setValue(next);
      drafts.writeAnswer(questionId, part, next);
    },
  ];
}

/** Sends the answer to a question. A rejected answer can be sent again. */
export function useSendAnswer(inputId: string): {
  readonly sent: boolean;
  readonly send: (value: Json) => Promise<void>;
} {
  const answers = useAnswers();
  const { drafts } = useSession();
  const [sent, setSent] = useState(false);
  // A second key may arrive before the buttons are disabled.
  const sending = useRef(false);
  const send = async (value: Json): Promise<void> => {
    if (sending.current) {
      return;
    }
    sending.current = true;
    setSent(true);
    const taken = await answers.answer(inputId, value);
    sending.current = taken;
    setSent(taken);
    if (taken) {
      drafts.answered(inputId);
    }
  };
  return { sent, send };
}
