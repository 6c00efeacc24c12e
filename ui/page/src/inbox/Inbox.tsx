import { titleOf } from "@parley/client";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKeys, useNow } from "../app/hooks.js";
import { formatRoute } from "../app/route.js";
import { agentName, useSession } from "../app/session.js";
import { takesText } from "../app/typing.js";
import { ListedContext } from "../questions/answers.js";
import { Expiry } from "../questions/Expiry.js";
import { promptOf } from "../questions/pending-questions.js";
import { QuestionBody } from "../questions/QuestionBody.js";
import { AgentMark } from "../ui/AgentMark.js";
import { ErrorBoundary } from "../ui/ErrorBoundary.js";
import { ago, count } from "../ui/format.js";
import { Icon } from "../ui/Icon.js";
import { Batch } from "./Batch.js";
import { type InboxQuestion, isApproval, useInboxQuestions } from "./inbox-questions.js";
import { NotificationOffer } from "./NotificationOffer.js";

/** Further questions are shown when these are answered. */
const SHOWN_MAX = 50;
const MINUTE_MS = 60_000;

/** Everything that waits for the user, in all conversations. */
export function Inbox() {
  const { state } = useSession();
  const { questions, answered, problems, answersTo } = useInboxQuestions();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const box = useRef<HTMLDivElement>(null);
  const shown = questions.slice(0, SHOWN_MAX);
  const chosen = questions.filter(({ id }) => selected.has(id));
  useNextFocus(box, shown);
  useKeys((event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const free = !event.defaultPrevented && !takesText(event.target as Element | null);
    if (step !== 0 && free && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      moveFocus(box.current, step);
    }
  });
  const select = (ids: readonly string[]): void => setSelected(new Set(ids));
  const toggle = (id: string): void => {
    const ids = chosen.map((one) => one.id);
    select(ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id]);
  };
  const approvals = questions.filter(isApproval);
  return (
    <div class="inbox">
      <header class="conversation-head">
        <a class="icon-button to-list" href={formatRoute({})} aria-label="All conversations">
          <Icon name="back" />
        </a>
        <h2 class="title">
          Inbox {questions.length > 0 && <span class="count">{questions.length}</span>}
        </h2>
      </header>
      <div class="inbox-list" ref={box}>
        <NotificationOffer />
        <p class="sr-only" role="status">
          {questions.length === 0 ? "Nothing waits for you" : count(questions.length, "question")}
        </p>
        {questions.length === 0 && (
          <p class="muted inbox-empty">
            {state.loading ? "Loading…" : "Nothing waits for you. Questions of agents appear here."}
          </p>
        )}
        {approvals.length > 1 && (
          <Batch
            approvals={approvals}
            chosen={chosen}
            place={`${answered}`}
            onSelect={select}
            answersTo={answersTo}
          />
        )}
        {shown.map((one, i) => (
          <InboxCard
            key={one.id}
            one={one}
            place={`${i}/${answered}`}
            problem={problems.get(one.id)}
            selected={approvals.length > 1 && isApproval(one) ? selected.has(one.id) : undefined}
            onToggle={() => toggle(one.id)}
            answersTo={answersTo}
          />
        ))}
        {questions.length > shown.length && (
          <p class="muted">{questions.length - shown.length} more follow when you answer these.</p>
        )}
      </div>
    </div>
  );
}

interface CardProps {
  readonly one: InboxQuestion;
  readonly place: string;
  readonly problem: string | undefined;
  /** Undefined if it cannot be selected. */
  readonly selected: boolean | undefined;
  readonly onToggle: () => void;
  readonly answersTo: ReturnType<typeof useInboxQuestions>["answersTo"];
}

function InboxCard({ one, place, problem, selected, onToggle, answersTo }: CardProps) {
  const { state } = useSession();
  const { item, question } = one;
  const now = useNow(MINUTE_MS);
  const who = agentName(state.agents, item.agentId);
  const answers = useMemo(() => answersTo(one), [one.id]);
  const listed = useMemo(() => ({ answers, place }), [answers, place]);
  const title = titleOf(item);
  return (
    <article
      class="question-card"
      tabIndex={-1}
      aria-label={`${who} asks in ${title}`}
      data-id={one.id}
    >
      <header class="question-head">
        {selected !== undefined && (
          <label class="checkbox">
            <input
              type="checkbox"
              aria-label={`Select: ${who}, ${title}`}
              checked={selected}
              onChange={onToggle}
            />
          </label>
        )}
        <AgentMark agentId={item.agentId ?? ""} name={who} />
        <span class="question-prompt">{promptOf(question)}</span>
        <Expiry at={item.expiresAt} />
      </header>
      <p class="question-place">
        <a href={formatRoute({ contextId: item.contextId, seq: item.seq })}>{title}</a>
        <span class="muted">{ago(item.timestamp, now)}</span>
      </p>
      {problem !== undefined && (
        <p class="problem question-problem" role="alert">
          {problem}
        </p>
      )}
      <ErrorBoundary what="This question">
        <ListedContext.Provider value={listed}>
          <QuestionBody question={question} />
        </ListedContext.Provider>
      </ErrorBoundary>
    </article>
  );
}

/** When the card with the focus disappears, the card in its place gets the focus. */
function useNextFocus(
  box: { current: HTMLDivElement | null },
  shown: readonly InboxQuestion[],
): void {
  const focused = useRef(-1);
  const ids = shown.map(({ id }) => id);
  const before = useRef<readonly string[]>(ids);
  useLayoutEffect(() => {
    const index = before.current.findIndex((_, i) => i === focused.current);
    const id = before.current[index];
    before.current = ids;
    if (id !== undefined && !ids.includes(id) && document.activeElement === document.body) {
      const cards = cardsOf(box.current);
      cards[Math.min(index, cards.length - 1)]?.focus();
    }
  }, [ids.join()]);
  useLayoutEffect(() => {
    const moved = (): void => {
      const card = document.activeElement?.closest<HTMLElement>(".inbox .question-card");
      // A removed element loses the focus without an event.
      focused.current = card ? before.current.indexOf(card.dataset["id"] ?? "") : -1;
    };
    addEventListener("focusin", moved);
    return () => removeEventListener("focusin", moved);
  }, []);
}

function moveFocus(box: HTMLElement | null, step: number): void {
  const cards = cardsOf(box);
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  cards[Math.min(Math.max(at + step, 0), cards.length - 1)]?.focus();
}

function cardsOf(box: HTMLElement | null): HTMLElement[] {
  return [...(box?.querySelectorAll<HTMLElement>(".question-card") ?? [])];
}
