import { visibleText } from "@parley/client";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { FIELDS, useKeys } from "../app/hooks.js";
import { agentName, useSession } from "../app/session.js";
import { composerBox, visibleInput } from "../app/typing.js";
import { Guarded } from "../ui/Guarded.js";
import { Icon } from "../ui/Icon.js";
import { Approval } from "./Approval.js";
import { type Ask, type Asks, idOf, kindOf } from "./asks.js";
import { Choice } from "./Choice.js";
import { Expiry } from "./Expiry.js";
import { FormAnswer } from "./FormAnswer.js";
import { SignIn } from "./SignIn.js";
import { TextAnswer } from "./TextAnswer.js";

/** What agents ask, one thing at a time, always in reach: above where one writes. */
export function Dock({ asks }: { asks: Asks }) {
  const { all, at, ask, folded, fold, go } = asks;
  const { state } = useSession();
  const who = ask && agentName(state.agents, ask.agentId);
  useKeys((event) => {
    if (event.key === "Escape" && ask !== undefined && !folded && !isForOthers(event)) {
      fold(true);
    }
  });
  // Only this is read out: the rest changes while it is looked at.
  const news = <p class="sr" role="status">{ask && `${who} asks: ${ask.prompt}`}</p>;
  if (ask === undefined) {
    return <div class="dock-place">{news}</div>;
  }
  return (
    <div class="dock-place">
      {news}
      <AskCard key={idOf(ask)} ask={ask} folded={folded} onFold={fold}>
        {all.length > 1 && (
          <span class="dock-steps">
            <button
              class="icon-button small"
              aria-label="The one before"
              disabled={at === 0}
              onClick={() => go(-1)}
            >
              <Icon name="back" />
            </button>
            {at + 1} of {all.length}
            <button
              class="icon-button small"
              aria-label="The next one"
              disabled={at === all.length - 1}
              onClick={() => go(1)}
            >
              <Icon name="right" />
            </button>
          </span>
        )}
      </AskCard>
    </div>
  );
}

function isEmpty(box: HTMLTextAreaElement | null): boolean {
  return box?.value === "";
}

/** Panels, menus and other fields close or clear themselves with Escape. */
function isForOthers(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  if (event.isComposing || event.defaultPrevented) {
    return true;
  }
  return target !== composerBox() && target.closest(`${FIELDS}, .panel, details[open]`) !== null;
}

interface AskCardProps {
  readonly ask: Ask;
  readonly folded: boolean;
  readonly onFold: (folded: boolean) => void;
  readonly children: preact.ComponentChildren;
}

function AskCard({ ask, folded, onFold, children }: AskCardProps) {
  const { state } = useSession();
  const box = useRef<HTMLElement>(null);
  const who = agentName(state.agents, ask.agentId);
  useEffect(() => {
    // What is typed is for the form that is asked for, unless a text is begun elsewhere. Nothing
    // that a key could press gets the focus by itself.
    const field = visibleInput();
    const active = document.activeElement;
    const idle = active === document.body || (active === composerBox() && isEmpty(composerBox()));
    if (field !== undefined && idle && matchMedia("(pointer: fine)").matches) {
      field.focus({ preventScroll: true });
    }
  }, []);
  useLayoutEffect(() => {
    const card = box.current;
    return () => {
      // Whoever typed the answer may type on: no letter is to fall on nothing.
      const field = document.activeElement?.closest(FIELDS) ?? null;
      if (field !== null && card?.contains(field) === true) {
        composerBox()?.focus({ preventScroll: true });
      }
    };
  }, []);
  const leave = (event: KeyboardEvent): void => {
    const field = (event.target as Element).closest(FIELDS);
    if (event.key === "Escape" && !event.isComposing && !event.defaultPrevented && field !== null) {
      event.preventDefault();
      box.current?.focus();
    }
  };
  return (
    <section
      ref={box}
      class="dock"
      tabIndex={-1}
      aria-label={`${who} asks`}
      onKeyDown={leave}
    >
      <header class="dock-head">
        <Icon name={ask.kind === "auth-required" ? "key" : "ask"} />
        <strong>{who}</strong>
        <span class="dock-prompt">{visibleText(ask.prompt)}</span>
        <Expiry at={ask.expiresAt} />
        {children}
        <button
          class="icon-button small dock-fold"
          aria-label={folded ? "Show what is asked" : "Fold what is asked"}
          title={folded ? "Show" : "Fold (Esc)"}
          aria-expanded={!folded}
          onClick={() => onFold(!folded)}
        >
          <Icon name={folded ? "right" : "down"} />
        </button>
      </header>
      {!folded && <Guarded what="What is asked">{body(ask)}</Guarded>}
    </section>
  );
}

function body(ask: Ask) {
  if (ask.kind === "auth-required") {
    return <SignIn ask={ask} />;
  }
  switch (kindOf(ask)) {
    case "approval":
      return <Approval ask={ask} />;
    case "choice":
      return <Choice ask={ask} options={ask.options ?? []} />;
    case "form":
      return <FormAnswer ask={ask} />;
    default:
      return <TextAnswer ask={ask} />;
  }
}
