import { type AuthRequired, type InputRequired, visibleText } from "@parley/client";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { FIELDS } from "../app/hooks.js";
import { agentName, useSession } from "../app/session.js";
import { useScene } from "../conversation/scene.js";
import { Guarded } from "../ui/Guarded.js";
import { Icon } from "../ui/Icon.js";
import { Approval } from "./Approval.js";
import { Choice } from "./Choice.js";
import { Expiry } from "./Expiry.js";
import { FormAnswer } from "./FormAnswer.js";
import { SignIn } from "./SignIn.js";
import { TextAnswer } from "./TextAnswer.js";

type Ask = InputRequired | AuthRequired;

/** What agents ask, one thing at a time, always in reach: above where one writes. */
export function Dock() {
  const { view } = useScene();
  const asks: Ask[] = [...view.pendingInputs, ...view.pendingAuths].sort((a, b) => a.seq - b.seq);
  const [wanted, setWanted] = useState<string>();
  const at = Math.max(
    0,
    asks.findIndex((ask) => idOf(ask) === wanted),
  );
  const ask = asks[at];
  const go = (step: number): void => {
    const next = asks[at + step];
    if (next !== undefined) {
      setWanted(idOf(next));
    }
  };
  const { state } = useSession();
  const who = ask && agentName(state.agents, ask.agentId);
  // Only this is read out: the rest changes while it is looked at.
  const news = <p class="sr" role="status">{ask && `${who} asks: ${ask.prompt}`}</p>;
  if (ask === undefined) {
    return <div class="dock-place">{news}</div>;
  }
  return (
    <div class="dock-place">
      {news}
      <AskCard key={idOf(ask)} ask={ask}>
        {asks.length > 1 && (
          <span class="dock-steps">
            <button
              class="icon-button small"
              aria-label="The one before"
              disabled={at === 0}
              onClick={() => go(-1)}
            >
              <Icon name="back" />
            </button>
            {at + 1} of {asks.length}
            <button
              class="icon-button small"
              aria-label="The next one"
              disabled={at === asks.length - 1}
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

function idOf(ask: Ask): string {
  return ask.kind === "auth-required" ? ask.authId : ask.inputId;
}

function AskCard({ ask, children }: { ask: Ask; children: preact.ComponentChildren }) {
  const { state } = useSession();
  const box = useRef<HTMLElement>(null);
  const who = agentName(state.agents, ask.agentId);
  useEffect(() => {
    // Whoever writes goes on writing. Nothing that a key could press gets the focus by itself.
    const writing = document.activeElement?.closest(FIELDS) ?? null;
    if (writing === null && matchMedia("(pointer: fine)").matches) {
      box.current?.focus({ preventScroll: true });
    }
  }, []);
  useLayoutEffect(() => {
    const card = box.current;
    return () => {
      // Whoever typed the answer may type on: no letter is to fall on nothing.
      const field = document.activeElement?.closest(FIELDS) ?? null;
      if (field !== null && card?.contains(field) === true) {
        document.querySelector<HTMLElement>(".composer textarea")?.focus({ preventScroll: true });
      }
    };
  }, []);
  return (
    <section ref={box} class="dock" tabIndex={-1} aria-label={`${who} asks`}>
      <header class="dock-head">
        <Icon name={ask.kind === "auth-required" ? "key" : "ask"} />
        <strong>{who}</strong>
        <span class="dock-prompt">{visibleText(ask.prompt)}</span>
        <span class="key-hint">
          <kbd>Esc</kbd> to answer
        </span>
        <Expiry at={ask.expiresAt} />
        {children}
      </header>
      <Guarded what="What is asked">{body(ask)}</Guarded>
    </section>
  );
}

function body(ask: Ask) {
  if (ask.kind === "auth-required") {
    return <SignIn ask={ask} />;
  }
  if (ask.inputType === "confirmation") {
    return <Approval ask={ask} />;
  }
  if (ask.options !== undefined && ask.options.length > 0) {
    return <Choice ask={ask} options={ask.options} />;
  }
  if (ask.schema !== undefined || ask.inputType === "tool-execution") {
    return <FormAnswer ask={ask} />;
  }
  return <TextAnswer ask={ask} />;
}
