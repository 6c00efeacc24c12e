import type { AuthRequired, ContextView, InputRequired, Json } from "@parley/client";
import { useState } from "preact/hooks";

export type Ask = InputRequired | AuthRequired;

/** How something that is asked is answered. */
export type AskKind = "sign-in" | "approval" | "choice" | "form" | "text";

export function idOf(ask: Ask): string {
  return ask.kind === "auth-required" ? ask.authId : ask.inputId;
}

export function kindOf(ask: Ask): AskKind {
  if (ask.kind === "auth-required") {
    return "sign-in";
  }
  if (ask.inputType === "confirmation") {
    return "approval";
  }
  if (ask.options !== undefined && ask.options.length > 0) {
    return "choice";
  }
  return ask.schema !== undefined || ask.inputType === "tool-execution" ? "form" : "text";
}

/** What an option is called. */
export function optionName(option: Json): string {
  if (typeof option === "object" && option !== null && !Array.isArray(option)) {
    const name = option["label"] ?? option["name"] ?? option["value"];
    return typeof name === "string" ? name : JSON.stringify(option);
  }
  return String(option);
}

/** The option that was typed, by its name or by its number. */
export function typedOption(options: readonly Json[], text: string): Json | undefined {
  const typed = text.trim().toLowerCase();
  const named = options.find((option) => optionName(option).trim().toLowerCase() === typed);
  return named ?? (/^\d+$/.test(typed) ? options[Number(typed) - 1] : undefined);
}

/** What is asked in a conversation, of which one thing is shown. */
export interface Asks {
  readonly all: readonly Ask[];
  readonly at: number;
  readonly ask: Ask | undefined;
  /** True if only the head of its card is shown. */
  readonly folded: boolean;
  readonly fold: (folded: boolean) => void;
  /** Shows another one, so many after this. */
  readonly go: (step: number) => void;
}

/** What is asked, the oldest first. */
export function useAsks(view: ContextView | undefined): Asks {
  const [wanted, setWanted] = useState<string>();
  const [folded, setFolded] = useState<string>();
  const open = view === undefined ? [] : [...view.pendingInputs, ...view.pendingAuths];
  const all: Ask[] = open.sort((a, b) => a.seq - b.seq);
  const at = Math.max(
    0,
    all.findIndex((ask) => idOf(ask) === wanted),
  );
  const ask = all[at];
  return {
    all,
    at,
    ask,
    folded: ask !== undefined && idOf(ask) === folded,
    fold: (fold) => setFolded(fold && ask !== undefined ? idOf(ask) : undefined),
    go: (step) => {
      const next = all[at + step];
      if (next !== undefined) {
        setWanted(idOf(next));
      }
    },
  };
}
