import type { Json } from "@parley/client";
import { useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import { useSetting } from "../conversation/scene.js";

/** A part of an answer, which is there again when one comes back to the question. */
export function useAnswer<T>(askId: string, part: string, first: T): [T, (value: T) => void] {
  const { drafts } = useSession();
  const [value, setValue] = useState(() => (drafts.answer(askId, part) as T | undefined) ?? first);
  return [
    value,
    (next) => {
      setValue(next);
      drafts.writeAnswer(askId, part, next);
    },
  ];
}

/** How to answer a question. What is refused may be answered again. */
export function useGive(inputId: string): {
  readonly sent: boolean;
  readonly give: (value: Json) => Promise<void>;
} {
  const { conversation } = useSetting();
  const { drafts } = useSession();
  const [sent, setSent] = useState(false);
  const give = async (value: Json): Promise<void> => {
    setSent(true);
    const taken = await conversation.answer(inputId, value);
    setSent(taken);
    if (taken) {
      drafts.answered(inputId);
    }
  };
  return { sent, give };
}
