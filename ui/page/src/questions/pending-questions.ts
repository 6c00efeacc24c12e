import {
  type AuthRequired,
  type ContextView,
  type InputRequired,
  type Json,
  visibleText,
} from "@parley/client";
import { useState } from "preact/hooks";

export type PendingQuestion = InputRequired | AuthRequired;

/** How a question is answered. */
export type QuestionKind = "sign-in" | "approval" | "choice" | "form" | "text";

export function idOf(question: PendingQuestion): string {
  return question.kind === "auth-required" ? question.authId : question.inputId;
}

export function kindOf(question: PendingQuestion): QuestionKind {
  if (question.kind === "auth-required") {
    return "sign-in";
  }
  if (question.inputType === "confirmation") {
    return "approval";
  }
  if (question.options !== undefined && question.options.length > 0) {
    return "choice";
  }
  return question.schema !== undefined || question.inputType === "tool-execution" ? "form" : "text";
}

/** The question in words. The card of an approval describes the call. */
export function promptOf(question: PendingQuestion): string {
  const generated = /^May \S+ call \S+\?$/.test(question.prompt);
  return kindOf(question) === "approval" && generated
    ? "asks for approval"
    : visibleText(question.prompt);
}

/** The label of an option. */
export function optionName(option: Json): string {
  if (typeof option === "object" && option !== null && !Array.isArray(option)) {
    const name = option["label"] ?? option["name"] ?? option["value"];
    return typeof name === "string" ? name : JSON.stringify(option);
  }
  return String(option);
}

/** The option that matches typed text, by label or number. */
export function typedOption(options: readonly Json[], text: string): Json | undefined {
  const typed = text.trim().toLowerCase();
  const named = options.find((option) => optionName(option).trim().toLowerCase() === typed);
  return named ?? (/^\d+$/.test(typed) ? options[Number(typed) - 1] : undefined);
}

/** The open questions of a conversation; one is shown at a time. */
export interface PendingQuestions {
  readonly all: readonly PendingQuestion[];
  readonly index: number;
  readonly current: PendingQuestion | undefined;
  /** True if its card is collapsed. */
  readonly folded: boolean;
  readonly fold: (folded: boolean) => void;
  /** Shows another question, relative to the current one. */
  readonly go: (step: number) => void;
}

/** The open questions, oldest first. */
export function usePendingQuestions(view: ContextView | undefined): PendingQuestions {
  const [wanted, setWanted] = useState<string>();
  const [folded, setFolded] = useState<string>();
  const open = view === undefined ? [] : [...view.pendingInputs, ...view.pendingAuths];
  const all: PendingQuestion[] = open.sort((a, b) => a.seq - b.seq);
  const index = Math.max(
    0,
    all.findIndex((question) => idOf(question) === wanted),
  );
  const current = all[index];
  return {
    all,
    index,
    current,
    folded: current !== undefined && idOf(current) === folded,
    fold: (fold) => setFolded(fold && current !== undefined ? idOf(current) : undefined),
    go: (step) => {
      const next = all[index + step];
      if (next !== undefined) {
        setWanted(idOf(next));
      }
    },
  };
}
