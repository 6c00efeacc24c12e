import {
  callKey,
  type EventDetails,
  type EventLog,
  eventLine,
  type TraceSelection,
  selectionOfEvent,
  isSelected,
  MATCHES_MAX,
  modelKey,
  type ParleyEvent,
  type ParsedPosition,
  type Store,
  taskKey,
} from "@parley/client";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useStore } from "../app/hooks.js";
import { replace } from "../app/route.js";
import { useAutoScroll } from "../conversation/auto-scroll.js";
import { useConversationView } from "../conversation/conversation-context.js";
import { Code } from "../text/Code.js";
import { count } from "../ui/format.js";
import { scrollToRow, useVisibleRows } from "../ui/visible-rows.js";
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

/** The event log, one line per event, and the details of the selected event. */
export function LogView({
  log,
  selection,
  details,
}: {
  log: EventLog;
  selection: Store<TraceSelection | undefined>;
  details: EventDetails;
}) {
  const { view, route } = useConversationView();
  const state = useStore(log);
  const selected = useStore(selection);
  const box = useRef<HTMLDivElement>(null);
  const { first, last } = useVisibleRows(box, state.count, ROW_HEIGHT);
  const [current, setCurrent] = useState<number>();
  const shown = useStore(details);
  const chosen = shown.byPosition ? shown.at : undefined;
  useEffect(() => log.want(first, last), [log, first, last]);
  const { follow, release } = useAutoScroll(box);
  const loaded = state.count > 0;
  useEffect(() => {
    // Select the event of the tree or of the address.
    if (route.seq !== undefined && loaded && box.current?.matches(":hover, :focus") !== true) {
      const at = details.get().at;
      if (at?.seq !== route.seq) {
        details.show(undefined);
      }
      const { seq, k } = at?.seq === route.seq ? at : { seq: route.seq, k: 0 };
      const index = log.indexOf(seq, k);
      setCurrent(log.lists(seq, k) ? index : undefined);
      release();
      scrollToRow(box.current, index, ROW_HEIGHT);
    }
  }, [log, route.seq, loaded, chosen]);
  useEffect(() => {
    // Show the selection of the other views.
    if (selected !== undefined && box.current?.matches(":hover, :focus") !== true) {
      const { seq, k, span } = selected;
      const at = seq === undefined ? firstOf(span, view.tasks) : { seq, k };
      if (at !== undefined && !anySelectedVisible()) {
        scrollToRow(box.current, log.indexOf(at.seq, at.k), ROW_HEIGHT);
      }
    }
  }, [selected]);
  const topRow = (): number => Math.ceil((box.current?.scrollTop ?? 0) / ROW_HEIGHT);
  const anySelectedVisible = (): boolean => {
    const top = topRow();
    const rows = Math.floor((box.current?.clientHeight ?? 0) / ROW_HEIGHT);
    return Array.from({ length: rows }, (_, i) => log.row(top + i)).some(
      (event) => event !== undefined && isSelected(selected, selectionOfEvent(view, event)),
    );
  };
  const point = (index: number): void => {
    const event = log.row(index);
    if (event !== undefined) {
      details.show(event);
      selection.set(selectionOfEvent(view, event));
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
    // With the mouse, the row under the pointer is selected.
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
      scrollToRow(box.current, next, ROW_HEIGHT);
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
        onMouseLeave={() => selection.set(undefined)}
      >
        <div class="rows" style={{ height: `${state.count * ROW_HEIGHT}px` }} role="presentation">
          {Array.from({ length: last - first }, (_, i) => first + i).map((index) => (
            <Row
              key={index}
              index={index}
              event={log.row(index)}
              selection={selected}
              current={index === current}
              onPoint={() => point(index)}
              onChoose={() => choose(index)}
            />
          ))}
        </div>
        {state.count === 0 && (
          <p class="muted empty">{state.loading ? "Loading…" : "No matching events."}</p>
        )}
      </div>
      {(state.cut || state.error !== undefined) && (
        <p class="muted log-note" role="status">
          {state.error?.message ??
            `Only the first ${MATCHES_MAX.toLocaleString("en")} matches are shown; narrow the filter.`}
        </p>
      )}
      {shown.at === undefined ? (
        <Raw event={current === undefined ? undefined : log.row(current)} />
      ) : (
        <Raw event={shown.event} note={shown.error?.message ?? "Loading…"} />
      )}
    </section>
  );
}

interface RowProps {
  readonly index: number;
  readonly event: ParleyEvent | undefined;
  readonly selection: TraceSelection | undefined;
  readonly current: boolean;
  readonly onPoint: () => void;
  readonly onChoose: () => void;
}

function Row({ index, event, selection, current, onPoint, onChoose }: RowProps) {
  const { view } = useConversationView();
  const style = { top: `${index * ROW_HEIGHT}px` };
  if (event === undefined) {
    return (
      // biome-ignore lint/a11y/useFocusableInteractive: the listbox uses aria-activedescendant.
      <div class="event" style={style} role="option" aria-selected={false} aria-busy="true" />
    );
  }
  const { seq, k, kind, timestamp } = event;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox handles keys.
    // biome-ignore lint/a11y/useFocusableInteractive: the listbox uses aria-activedescendant.
    <div
      id={`event-${index}`}
      class="event"
      role="option"
      aria-selected={current}
      data-seq={k === undefined || k === 0 ? seq : `${seq}.${k}`}
      data-kind={kind}
      data-marked={isSelected(selection, selectionOfEvent(view, event)) || undefined}
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

/** The raw JSON of an event. */
function Raw({ event, note }: { event: ParleyEvent | undefined; note?: string }) {
  const text = useMemo(() => JSON.stringify(event, null, 2) ?? "", [event]);
  return (
    <div class="raw" aria-label="Raw JSON" role="region">
      {event === undefined ? (
        <p class="muted empty">{note ?? "Select an event to see its details."}</p>
      ) : (
        <Code text={text.slice(0, RAW_MAX)} language="json" />
      )}
    </div>
  );
}

type Tasks = ReturnType<typeof useConversationView>["view"]["tasks"];

/** The first event of a span. */
function firstOf(span: string | undefined, tasks: Tasks): ParsedPosition | undefined {
  for (const task of tasks) {
    const call = task.calls.find((one) => span === callKey(one.toolCallId));
    const asked = task.modelCalls.find((one) => span === modelKey(task.taskId, one));
    const own = span === taskKey(task.taskId) ? task : call;
    const found = asked ?? (own && { seq: own.seq, k: 0 }) ?? firstOf(span, task.children);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}
