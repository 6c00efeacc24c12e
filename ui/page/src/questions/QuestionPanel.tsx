import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { FIELDS, useKeys } from "../app/hooks.js";
import { agentName, useSession } from "../app/session.js";
import { composerBox, visibleInput } from "../app/typing.js";
import { AgentMark } from "../ui/AgentMark.js";
import { formatRoute } from "../app/route.js";
import { useConversation } from "../conversation/conversation-context.js";
import { count } from "../ui/format.js";
import { ErrorBoundary } from "../ui/ErrorBoundary.js";
import { Icon } from "../ui/Icon.js";
import { Expiry } from "./Expiry.js";
import {
  type PendingQuestion,
  type PendingQuestions,
  idOf,
  promptOf,
} from "./pending-questions.js";
import { QuestionBody } from "./QuestionBody.js";

/** The open questions of agents, one at a time, above the composer. */
export function QuestionPanel({ questions }: { questions: PendingQuestions }) {
  const { all, index, current: question, folded, fold, go } = questions;
  const { state } = useSession();
  const { contextId } = useConversation().conversation;
  const who = question && agentName(state.agents, question.agentId);
  useKeys((event) => {
    if (event.key === "Escape" && question !== undefined && !folded && !isForOthers(event)) {
      fold(true);
    }
  });
  // Only this text is announced; the rest changes often.
  const news = (
    <p class="sr-only" role="status">
      {question && `${who} asks: ${question.prompt}`}
    </p>
  );
  const answered = useRef(false);
  answered.current ||= question !== undefined;
  if (question === undefined) {
    const others = answered.current ? state.inbox.filter((one) => one.contextId !== contextId) : [];
    return (
      <div class="question-panel">
        {news}
        {others.length > 0 && (
          <a class="button small next-question" href={formatRoute({ inbox: true })}>
            <Icon name="inbox" /> {count(others.length, "more question")} in the inbox
          </a>
        )}
      </div>
    );
  }
  return (
    <div class="question-panel">
      {news}
      <QuestionCard key={idOf(question)} question={question} folded={folded} onFold={fold}>
        {all.length > 1 && (
          <span class="question-steps">
            <button
              type="button"
              class="icon-button small"
              aria-label="Previous question"
              disabled={index === 0}
              onClick={() => go(-1)}
            >
              <Icon name="back" />
            </button>
            {index + 1} of {all.length}
            <button
              type="button"
              class="icon-button small"
              aria-label="Next question"
              disabled={index === all.length - 1}
              onClick={() => go(1)}
            >
              <Icon name="right" />
            </button>
          </span>
        )}
      </QuestionCard>
    </div>
  );
}

function isEmpty(box: HTMLTextAreaElement | null): boolean {
  return box?.value === "";
}

/** Panels, menus and other fields handle Escape themselves. */
function isForOthers(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  if (event.isComposing || event.defaultPrevented) {
    return true;
  }
  return target !== composerBox() && target.closest(`${FIELDS}, .panel, details[open]`) !== null;
}

interface QuestionCardProps {
  readonly question: PendingQuestion;
  readonly folded: boolean;
  readonly onFold: (folded: boolean) => void;
  readonly children: preact.ComponentChildren;
}

function QuestionCard({ question, folded, onFold, children }: QuestionCardProps) {
  const { state } = useSession();
  const box = useRef<HTMLElement>(null);
  const who = agentName(state.agents, question.agentId);
  useEffect(() => {
    // Typed text goes to the form of the question, unless text was started in another field.
    // Buttons never get the focus automatically.
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
      // The user may keep typing: move the focus to the composer.
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
      class="question-card"
      tabIndex={-1}
      aria-label={`${who} asks`}
      onKeyDown={leave}
    >
      <header class="question-head">
        <AgentMark agentId={question.agentId ?? ""} name={who} />
        <span class="question-prompt">{promptOf(question)}</span>
        <Expiry at={question.expiresAt} />
        {children}
        <button
          type="button"
          class="icon-button small question-fold"
          aria-label={folded ? "Expand question" : "Collapse question"}
          title={folded ? "Expand" : "Collapse (Esc)"}
          aria-expanded={!folded}
          onClick={() => onFold(!folded)}
        >
          <Icon name={folded ? "right" : "down"} />
        </button>
      </header>
      {!folded && (
        <ErrorBoundary what="This question">
          <QuestionBody question={question} />
        </ErrorBoundary>
      )}
    </section>
  );
}
