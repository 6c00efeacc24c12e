import {
  indexOfRow,
  type NewMessage,
  parsePosition,
  type Row,
  rowAt,
  windowOf,
} from "@parley/client";
import { Fragment, type RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isTyping, useKeys } from "../app/hooks.js";
import { agentName, useSession } from "../app/session.js";
import { composerBox } from "../app/typing.js";
import { AgentMark } from "../ui/AgentMark.js";
import { Icon } from "../ui/Icon.js";
import { useAutoScroll } from "./auto-scroll.js";
import { FirstMessage } from "./FirstMessage.js";
import { authorsOf, foldedSteps } from "./folded-steps.js";
import { RowView } from "./RowView.js";
import { StepsFold } from "./StepsFold.js";
import { useConversationView } from "./conversation-context.js";

interface ThreadProps {
  readonly rows: readonly Row[];
  readonly loading: boolean;
  readonly hasEarlier: boolean;
  /** True if no panel shows old events. */
  readonly alone: boolean;
  /** The event of the address, or the first event of its task. */
  readonly linkedAt: number | undefined;
  /** The number of messages sent here: a new one scrolls to the end. */
  readonly sentCount: number;
  /** The first message, if the log does not have it yet. */
  readonly firstMessage: NewMessage | undefined;
}

/** The rows of the conversation. Only rows near the visible part are rendered. */
export function Thread(props: ThreadProps) {
  const { rows, loading, hasEarlier, alone, linkedAt, sentCount } = props;
  const { conversation, route, view } = useConversationView();
  const box = useRef<HTMLDivElement>(null);
  const { following, away, follow, release } = useAutoScroll(box);
  const [first, setFirst] = useState<Row>();
  const start = first === undefined ? undefined : indexOfRow(rows, first);
  const shown = windowOf(rows.length, following ? undefined : start);
  // When the user stops following, the rendered rows stay. This effect precedes those of a link, so
  // that the link wins.
  const top = rows[shown.from];
  useLayoutEffect(() => {
    if (following) {
      setFirst(top);
    }
  }, [following, top?.key]);
  useEffect(() => conversation.live.forgets(following && alone), [conversation, following, alone]);
  useEffect(() => {
    if (sentCount > 0) {
      follow();
    }
  }, [sentCount]);
  useKeys((event) => {
    const target = event.target as HTMLElement;
    const elsewhere = target.closest(".panel, .sidebar") !== null;
    // In an empty input, End has no other use.
    const idle = !isTyping(event) || (target === composerBox() && composerBox()?.value === "");
    if (event.key === "End" && idle && !elsewhere) {
      event.preventDefault();
      follow();
    }
  });
  const keepPlace = useScrollAnchor(box, rows, top);
  const target = useLinkTarget(rows, linkedAt, hasEarlier && !loading);
  useLayoutEffect(() => {
    if (target !== undefined) {
      release();
      setFirst(rows[Math.max(0, target.index - 20)]);
    }
  }, [target?.key, route]);
  const led = useRef<unknown[]>([]);
  useLayoutEffect(() => {
    const element = target && elementOf(box, target.key);
    // Only once, so that the user can scroll away.
    if (element && (led.current[0] !== target.key || led.current[1] !== route)) {
      led.current = [target.key, route];
      element.scrollIntoView({ block: "center" });
    }
  }, [target?.key, first, route]);
  const up = (): void => {
    if (shown.from > 0) {
      release();
      keepPlace();
      setFirst(rows[Math.max(0, shown.from - windowOf.step)]);
    } else if (hasEarlier && !loading) {
      // If everything fits, its start is visible without scrolling up.
      if (box.current !== null && box.current.scrollHeight > box.current.clientHeight) {
        release();
      }
      keepPlace();
      conversation.live.earlier();
    }
  };
  const authors = useMemo(() => authorsOf(rows), [rows]);
  const down = (): void => setFirst(rows[shown.from + windowOf.step]);
  return (
    <div class="thread-frame">
      <div
        ref={box}
        class="thread"
        role="log"
        aria-label="Conversation"
        aria-busy={loading}
        aria-live="off"
        data-position={view.position}
        tabIndex={0}
      >
        <div class="thread-rows">
          {(shown.from > 0 || hasEarlier) && (
            <LoadMoreButton
              key={`up-${shown.from}`}
              onSeen={up}
              text={loading ? "Loading…" : "Earlier"}
            />
          )}
          {props.firstMessage !== undefined && <FirstMessage message={props.firstMessage} />}
          {rows.length === 0 && !loading && props.firstMessage === undefined && (
            <p class="muted empty">No messages yet. Write below what you would like done.</p>
          )}
          {foldedSteps(rows.slice(shown.from, shown.to)).map((item) => {
            const { key } = item.kind === "row" ? item.row : item;
            const first = item.kind === "row" ? item.row : item.rows[0];
            const author = first && authors.get(first.key);
            return (
              <Fragment key={key}>
                {author !== undefined && <Author agentId={author} />}
                {item.kind === "row" ? (
                  <RowView row={item.row} marked={key === target?.key} />
                ) : (
                  <StepsFold rows={item.rows} target={target?.key} />
                )}
              </Fragment>
            );
          })}
          {shown.to < rows.length && (
            <LoadMoreButton key={`down-${shown.to}`} onSeen={down} text="Later" />
          )}
        </div>
      </div>
      {!following && (away || shown.to < rows.length) && (
        <button type="button" class="button to-end" onClick={follow}>
          <Icon name="down" /> Newest
        </button>
      )}
    </div>
  );
}

/** The name and color of an agent, above what it did. */
function Author({ agentId }: { agentId: string }) {
  const { state } = useSession();
  return (
    <p class="author">
      <AgentMark agentId={agentId} name={agentName(state.agents, agentId)} />
    </p>
  );
}

/** A button that loads more, also when it becomes visible. */
function LoadMoreButton({ onSeen, text }: { onSeen: () => void; text: string }) {
  const edge = useRef<HTMLButtonElement>(null);
  const latest = useRef(onSeen);
  latest.current = onSeen;
  useEffect(() => {
    const element = edge.current;
    if (element === null) {
      return undefined;
    }
    const observer = new IntersectionObserver(
      (seen) => seen.some((one) => one.isIntersecting) && latest.current(),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <button type="button" ref={edge} class="button muted wide load-more" onClick={onSeen}>
      {text}
    </button>
  );
}

/**
 * Keeps the scroll position when rows are added above: browsers do so, except at the very top.
 * `top` is the first row; call the returned function before it changes.
 */
function useScrollAnchor(
  box: RefObject<HTMLElement | null>,
  rows: readonly Row[],
  top: Row | undefined,
): () => void {
  const kept = useRef<{ row: Row; y: number }>(undefined);
  useLayoutEffect(() => {
    const place = kept.current;
    if (place !== undefined && place.row.key !== top?.key && box.current !== null) {
      kept.current = undefined;
      const now = elementOf(box, rows[indexOfRow(rows, place.row)]?.key);
      box.current.scrollTop += (now?.getBoundingClientRect().top ?? place.y) - place.y;
    }
  }, [top?.key]);
  return () => {
    const y = elementOf(box, top?.key)?.getBoundingClientRect().top;
    kept.current = top === undefined || y === undefined ? undefined : { row: top, y };
  };
}

function elementOf(
  box: RefObject<HTMLElement | null>,
  key: string | undefined,
): Element | null | undefined {
  if (key === undefined) {
    return undefined;
  }
  const row = `[data-key="${CSS.escape(key)}"]`;
  const found = box.current?.querySelector(`.thread-rows > ${row}, .fold-rows > ${row}`);
  return found?.closest(".fold:not([open])") ?? found;
}

/** The row of a link; loads it if necessary. */
function useLinkTarget(
  rows: readonly Row[],
  linkedAt: number | undefined,
  canLoad: boolean,
): { key: string; index: number } | undefined {
  const { conversation, route, link, view } = useConversationView();
  // An event after the shown position may not exist.
  const { seq } = parsePosition(view.position);
  const known = route.seq !== undefined && route.seq <= seq ? route.seq : undefined;
  const wanted = known ?? linkedAt;
  const index = rowAt(rows, wanted, link.taskId);
  const row = rows[index];
  const before = wanted !== undefined && row === undefined;
  useEffect(() => {
    if (before && canLoad) {
      conversation.live.earlier(wanted);
    }
  }, [before, canLoad]);
  return row === undefined ? undefined : { key: row.key, index };
}
