import { indexOfRow, parsePosition, type Row, rowAt, windowOf } from "@parley/client";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { typing, useKeys } from "../app/hooks.js";
import { composerBox } from "../app/typing.js";
import { Icon } from "../ui/Icon.js";
import { useFollow } from "./follow.js";
import { RowView } from "./RowView.js";
import { useScene } from "./scene.js";

interface ThreadProps {
  readonly rows: readonly Row[];
  readonly loading: boolean;
  readonly hasEarlier: boolean;
  /** True if nothing else shows what happened here. */
  readonly alone: boolean;
  /** The event that the address leads to, or that its task begins with. */
  readonly linkedAt: number | undefined;
  /** How often this person has said something: then they want to see what comes of it. */
  readonly said: number;
}

/** The conversation from top to bottom. Only rows near to what is looked at are in the page. */
export function Thread({ rows, loading, hasEarlier, alone, linkedAt, said }: ThreadProps) {
  const { conversation, route, view } = useScene();
  const box = useRef<HTMLDivElement>(null);
  const { following, away, follow, release } = useFollow(box);
  const [first, setFirst] = useState<Row>();
  const start = first === undefined ? undefined : indexOfRow(rows, first);
  const shown = windowOf(rows.length, following ? undefined : start);
  // Where a reader stops following, the rows stay that were there. Before the effects of a link: if
  // both change where it begins, the link counts.
  const top = rows[shown.from];
  useLayoutEffect(() => {
    if (following) {
      setFirst(top);
    }
  }, [following, top?.key]);
  useEffect(() => conversation.live.forgets(following && alone), [conversation, following, alone]);
  useEffect(() => {
    if (said > 0) {
      follow();
    }
  }, [said]);
  useKeys((event) => {
    const target = event.target as HTMLElement;
    const elsewhere = target.closest(".panel, .sidebar") !== null;
    // In an empty box the key moves nothing else.
    const idle = !typing(event) || (target === composerBox() && composerBox()?.value === "");
    if (event.key === "End" && idle && !elsewhere) {
      event.preventDefault();
      follow();
    }
  });
  const keepPlace = usePlace(box, rows, top);
  const target = useTarget(rows, linkedAt, hasEarlier && !loading);
  useLayoutEffect(() => {
    if (target !== undefined) {
      release();
      setFirst(rows[Math.max(0, target.index - 20)]);
    }
  }, [target?.key, route]);
  const led = useRef<unknown[]>([]);
  useLayoutEffect(() => {
    const element = target && elementOf(box, target.key);
    // Once: whoever goes on from there is not to be called back.
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
      // Where all there is fits, its beginning is in sight, and nobody has scrolled up to it.
      if (box.current !== null && box.current.scrollHeight > box.current.clientHeight) {
        release();
      }
      keepPlace();
      conversation.live.earlier();
    }
  };
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
            <Edge key={`up-${shown.from}`} onSeen={up} text={loading ? "Loading…" : "Earlier"} />
          )}
          {rows.length === 0 && !loading && (
            <p class="quiet empty">Nothing was said here yet. Say below what should be done.</p>
          )}
          {rows.slice(shown.from, shown.to).map((row) => (
            <RowView key={row.key} row={row} marked={row.key === target?.key} />
          ))}
          {shown.to < rows.length && <Edge key={`down-${shown.to}`} onSeen={down} text="Later" />}
        </div>
      </div>
      {!following && (away || shown.to < rows.length) && (
        <button class="button to-end" onClick={follow}>
          <Icon name="down" /> Newest
        </button>
      )}
    </div>
  );
}

/** Something to press at the end of what is shown; coming into sight is as good. */
function Edge({ onSeen, text }: { onSeen: () => void; text: string }) {
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
    <button ref={edge} class="button quiet wide edge" onClick={onSeen}>
      {text}
    </button>
  );
}

/**
 * Keeps what is read where it is when rows come above it: browsers do so by themselves, but not at
 * the very top. `top` is the first row there is; the answer is to be called before that changes.
 */
function usePlace(
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
  return key === undefined
    ? undefined
    : box.current?.querySelector(`.thread-rows > [data-key="${CSS.escape(key)}"]`);
}

/** The row that a link leads to; what is not loaded yet is asked for. */
function useTarget(
  rows: readonly Row[],
  linkedAt: number | undefined,
  canLoad: boolean,
): { key: string; index: number } | undefined {
  const { conversation, route, link, view } = useScene();
  // An event that is ahead of what is shown may not be there at all.
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
