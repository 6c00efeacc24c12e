import {
  callKey,
  type EventLog,
  eventLine,
  type Mark,
  markOfEvent,
  marks,
  MATCHES_MAX,
  modelKey,
  type ParleyEvent,
  type Store,
  taskKey,
} from "@parley/client";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useStore } from "../app/hooks.js";
import { replace } from "../app/route.js";
import { useFollow } from "../conversation/follow.js";
import { useScene } from "../conversation/scene.js";
import { Code } from "../text/Code.js";
import { count } from "../ui/format.js";
import { bringIntoSight, useShown } from "../ui/virtual.js";
import { LogFilters } from "./LogFilters.js";

const ROW_HEIGHT = 24;
const PAGE_ROWS = 10;
const RAW_MAX = 200_000;
const TIME = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
});

/** Every event of the log, one to a line, and all of the one that is pointed at. */
export function LogView({ log, mark }: { log: EventLog; mark: Store<Mark | undefined> }) {
  const { view, route } = useScene();
  const state = useStore(log);
  const marked = useStore(mark);
  const box = useRef<HTMLDivElement>(null);
  const { first, last } = useShown(box, state.count, ROW_HEIGHT);
  const [current, setCurrent] = useState<number>();
  const [raw, setRaw] = useState<ParleyEvent>();
  useEffect(() => log.want(first, last), [log, first, last]);
  const { follow, release } = useFollow(box);
  const loaded = state.count > 0;
  useEffect(() => {
    // The event that the address leads to is the one that is looked at.
    if (route.seq !== undefined && loaded && box.current?.matches(":hover, :focus") !== true) {
      const index = log.indexOf(route.seq);
      setCurrent(index);
      release();
      bringIntoSight(box.current, index, ROW_HEIGHT);
    }
  }, [log, route.seq, loaded]);
  useEffect(() => {
    // What is pointed at elsewhere is to be seen here too.
    if (marked !== undefined && box.current?.matches(":hover, :focus") !== true) {
      const seq = marked.seq ?? seqOf(marked);
      if (seq !== undefined && !anyMarked()) {
        bringIntoSight(box.current, log.indexOf(seq), ROW_HEIGHT);
      }
    }
  }, [marked]);
  const topRow = (): number => Math.ceil((box.current?.scrollTop ?? 0) / ROW_HEIGHT);
  const anyMarked = (): boolean => {
    const top = topRow();
    const rows = Math.floor((box.current?.clientHeight ?? 0) / ROW_HEIGHT);
    return Array.from({ length: rows }, (_, i) => log.row(top + i)).some(
      (event) => event !== undefined && marks(marked, markOfEvent(view, event)),
    );
  };
  const seqOf = ({ span }: Mark): number | undefined => firstSeq(span, view.tasks);
  const point = (index: number): void => {
    const event = log.row(index);
    if (event !== undefined) {
      setRaw(event);
      mark.set(markOfEvent(view, event));
    }
  };
  const choose = (index: number): void => {
    const event = log.row(index);
    setCurrent(index);
    if (event !== undefined) {
      const { contextId } = view;
      replace({ contextId, seq: event.seq, at: route.at });
    }
  };
  const focused = (): void => {
    // With the mouse, it is the row under it that is looked at.
    if (state.count > 0 && box.current?.matches(":focus-visible") === true) {
      const index = current ?? topRow();
      setCurrent(index);
      point(index);
    }
  };
  const pressed = (event: KeyboardEvent): void => {
    const at = current ?? topRow();
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: current === undefined ? at : at + 1,
      ArrowUp: at - 1,
      PageDown: at + PAGE_ROWS,
      PageUp: at - PAGE_ROWS,
      Home: 0,
      End: state.count - 1,
    };
    const to = steps[event.key];
    if (to !== undefined) {
      const next = Math.max(0, Math.min(state.count - 1, to));
      setCurrent(next);
      bringIntoSight(box.current, next, ROW_HEIGHT);
      point(next);
    } else if (event.key === "Enter") {
      choose(at);
    } else {
      return;
    }
    event.preventDefault();
  };
  return (
    <section class="log" aria-label="Events">
      <LogFilters
        filter={state.filter}
        onChoose={(filter) => {
          log.choose(filter);
          follow();
        }}
      />
      <div
        ref={box}
        class="log-box"
        role="listbox"
        aria-label={count(state.count, "event")}
        aria-busy={state.loading}
        aria-activedescendant={current === undefined ? undefined : `event-${current}`}
        tabIndex={0}
        onFocus={focused}
        onKeyDown={pressed}
        onMouseLeave={() => mark.set(undefined)}
      >
        <div class="rows" style={{ height: `${state.count * ROW_HEIGHT}px` }} role="presentation">
          {Array.from({ length: last - first }, (_, i) => first + i).map((index) => (
            <Row
              key={index}
              index={index}
              event={log.row(index)}
              mark={marked}
              current={index === current}
              onPoint={() => point(index)}
              onChoose={() => choose(index)}
            />
          ))}
        </div>
        {state.count === 0 && (
          <p class="quiet empty">{state.loading ? "Loading…" : "No event fits."}</p>
        )}
      </div>
      {(state.cut || state.error !== undefined) && (
        <p class="quiet log-note" role="status">
          {state.error?.message ??
            `Only the first ${MATCHES_MAX.toLocaleString("en")} that fit; look for fewer.`}
        </p>
      )}
      <Raw event={raw ?? (current === undefined ? undefined : log.row(current))} />
    </section>
  );
}

interface RowProps {
  readonly index: number;
  readonly event: ParleyEvent | undefined;
  readonly mark: Mark | undefined;
  readonly current: boolean;
  readonly onPoint: () => void;
  readonly onChoose: () => void;
}

function Row({ index, event, mark, current, onPoint, onChoose }: RowProps) {
  const { view } = useScene();
  const style = { top: `${index * ROW_HEIGHT}px` };
  if (event === undefined) {
    return <div class="event" style={style} role="option" aria-selected={false} aria-busy="true" />;
  }
  const { seq, k, kind, timestamp } = event;
  return (
    <div
      id={`event-${index}`}
      class="event"
      role="option"
      aria-selected={current}
      data-seq={k === undefined || k === 0 ? seq : `${seq}.${k}`}
      data-kind={kind}
      data-marked={marks(mark, markOfEvent(view, event)) || undefined}
      style={style}
      onMouseEnter={onPoint}
      onClick={() => {
        onPoint();
        onChoose();
      }}
    >
      <span class="event-seq">{k === undefined || k === 0 ? seq : `${seq}.${k}`}</span>
      <span class="event-time" title={timestamp}>
        {TIME.format(new Date(timestamp))}
      </span>
      <span class="event-kind">[{kind}]</span>
      <span class="event-line">{eventLine(event)}</span>
    </div>
  );
}

/** All of an event, as it came. */
function Raw({ event }: { event: ParleyEvent | undefined }) {
  const text = useMemo(() => JSON.stringify(event, null, 2) ?? "", [event]);
  return (
    <div class="raw" aria-label="Raw JSON" role="region">
      {event === undefined ? (
        <p class="quiet empty">Point at an event to see all of it.</p>
      ) : (
        <Code text={text.slice(0, RAW_MAX)} language="json" />
      )}
    </div>
  );
}

type Tasks = ReturnType<typeof useScene>["view"]["tasks"];

/** Where a span begins in the log. */
function firstSeq(span: string | undefined, tasks: Tasks): number | undefined {
  for (const task of tasks) {
    const call = task.calls.find((one) => span === callKey(one.toolCallId));
    const asked = task.modelCalls.find((one) => span === modelKey(task.taskId, one));
    const own = span === taskKey(task.taskId) ? task.seq : undefined;
    const found = own ?? call?.seq ?? asked?.seq ?? firstSeq(span, task.children);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}
