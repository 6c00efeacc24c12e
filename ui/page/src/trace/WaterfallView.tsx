import {
  type Axis,
  type EventDetails,
  type TraceSelection,
  selectionOfSpan,
  type Span,
  type Store,
  tokensOf,
  type Totals,
  type TraceHistoryState,
  type Waterfall,
} from "@parley/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { useStore } from "../app/hooks.js";
import { replace } from "../app/route.js";
import { agentName, useSession } from "../app/session.js";
import { useConversationView } from "../conversation/conversation-context.js";
import { duration, tokens } from "../ui/format.js";
import { Icon, type IconName } from "../ui/Icon.js";
import { scrollToRow, useVisibleRows } from "../ui/visible-rows.js";

const ROW_HEIGHT = 26;
const INDENT_PX = 12;
const INDENTS_MAX = 8;
const PERCENT = 100;
/** The minimum width of a bar, so that short spans are visible. */
const BAR_MIN_PX = 3;
const ICONS: Readonly<Record<Span["kind"], IconName>> = {
  task: "agents",
  model: "bolt",
  tool: "tool",
};

interface WaterfallProps {
  readonly waterfall: Waterfall;
  /** The usage of the whole conversation. */
  readonly totals: Totals;
  /** The steps before the recent events. */
  readonly earlier: TraceHistoryState;
  readonly selection: Store<TraceSelection | undefined>;
  readonly details: EventDetails;
  readonly onFold: (key: string, closed: boolean) => void;
}

/** Tasks, model calls and tool calls over time, with cost. */
export function WaterfallView(props: WaterfallProps) {
  const { waterfall, totals, earlier, selection, details, onFold } = props;
  const { view, route } = useConversationView();
  const { rows, axis } = waterfall;
  const box = useRef<HTMLDivElement>(null);
  const { first, last } = useVisibleRows(box, rows.length, ROW_HEIGHT);
  const selected = useStore(selection);
  const [current, setCurrent] = useState(0);
  const at = Math.min(current, rows.length - 1);
  useEffect(() => {
    // Show the selection of the other views.
    if (selected !== undefined && box.current?.matches(":hover, :focus-within") !== true) {
      scrollToRow(box.current, indexOf(rows, selected), ROW_HEIGHT);
    }
  }, [selected]);
  const point = (span: Span): void => selection.set(selectionOfSpan(view, span));
  const choose = (span: Span): void => {
    point(span);
    void details.load(span);
    replace({ contextId: view.contextId, seq: span.seq, at: route.at });
  };
  const move = (to: number): void => {
    const span = rows[Math.max(0, Math.min(rows.length - 1, to))];
    if (span !== undefined) {
      setCurrent(rows.indexOf(span));
      scrollToRow(box.current, rows.indexOf(span), ROW_HEIGHT);
      point(span);
    }
  };
  const pressed = (event: KeyboardEvent): void => {
    const span = rows[at];
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: rows.length - 1,
    };
    const to = steps[event.key];
    if (to !== undefined) {
      move(to);
    } else if (span !== undefined && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      onFold(span.key, event.key === "ArrowLeft");
    } else if (span !== undefined && event.key === "Enter") {
      choose(span);
    } else {
      return;
    }
    event.preventDefault();
  };
  return (
    <section class="waterfall" aria-label="Tasks, models and tools over time">
      <Legend axis={axis} totals={totals} />
      <EarlierNote earlier={earlier} />
      <div
        ref={box}
        class="waterfall-box"
        role="tree"
        aria-label="Tasks"
        tabIndex={0}
        aria-activedescendant={at >= first && at < last ? `span-${at}` : undefined}
        onKeyDown={pressed}
        onFocus={() => rows[at] !== undefined && point(rows[at])}
        onMouseLeave={() => selection.set(undefined)}
      >
        <div class="rows" style={{ height: `${rows.length * ROW_HEIGHT}px` }} role="presentation">
          {rows.slice(first, last).map((span, i) => (
            <Row
              key={span.key}
              span={span}
              index={first + i}
              axis={axis}
              current={first + i === at}
              selected={selected?.span === span.key}
              within={selected?.taskId === span.taskId}
              onPoint={() => point(span)}
              onFold={() => onFold(span.key, !span.folded)}
              onChoose={() => {
                setCurrent(first + i);
                choose(span);
              }}
            />
          ))}
        </div>
        {rows.length === 0 && <p class="muted empty">No tasks yet.</p>}
      </div>
    </section>
  );
}

interface RowProps {
  readonly span: Span;
  readonly index: number;
  readonly axis: Axis;
  readonly current: boolean;
  readonly selected: boolean;
  readonly within: boolean;
  readonly onPoint: () => void;
  readonly onFold: () => void;
  readonly onChoose: () => void;
}

function Row(props: RowProps) {
  const { span, index, axis } = props;
  const { state } = useSession();
  const name = span.kind === "task" ? agentName(state.agents, span.label) : span.label;
  const took = duration(span.end - span.start);
  const left = axis.at(span.start);
  const width = axis.at(span.end) - left;
  const facts = [span.kind, name, span.status, span.retry, took, spent(span), cost(span)];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles keys.
    // biome-ignore lint/a11y/useFocusableInteractive: the tree uses aria-activedescendant.
    <div
      id={`span-${index}`}
      class="span"
      role="treeitem"
      aria-level={span.depth + 1}
      aria-expanded={span.below > 0 ? !span.folded : undefined}
      aria-selected={props.current}
      data-key={span.key}
      data-kind={span.kind}
      data-status={span.status}
      data-marked={props.selected || undefined}
      data-within={props.within || undefined}
      title={facts.filter(Boolean).join(", ")}
      style={{ top: `${index * ROW_HEIGHT}px` }}
      onMouseEnter={props.onPoint}
      onClick={props.onChoose}
    >
      <span
        class="span-name"
        style={{ paddingLeft: `${Math.min(span.depth, INDENTS_MAX) * INDENT_PX}px` }}
      >
        {span.below > 0 ? (
          <button
            type="button"
            class="span-fold"
            tabIndex={-1}
            aria-hidden="true"
            onClick={(event) => {
              event.stopPropagation();
              props.onFold();
            }}
          >
            <Icon name={span.folded ? "right" : "down"} />
          </button>
        ) : (
          <span class="span-fold" />
        )}
        <Icon name={ICONS[span.kind]} />
        <span class="span-label">{name}</span>
        <span class="sr-only">
          {span.kind}, {span.status}
        </span>
      </span>
      <span class="span-track">
        <span
          class="span-bar"
          style={{
            left: `min(${left * PERCENT}%, 100% - ${BAR_MIN_PX}px)`,
            width: `max(${width * PERCENT}%, ${BAR_MIN_PX}px)`,
          }}
        />
        {span.retry !== undefined && <span class="retry">{span.retry}</span>}
      </span>
      <span class="span-facts">
        <span>{spent(span)}</span>
        <span>{cost(span)}</span>
        <span>{took}</span>
      </span>
    </div>
  );
}

/** The column headers, with totals that include unloaded tasks. */
function Legend({ axis, totals }: { axis: Axis; totals: Totals }) {
  const used = tokensOf(totals);
  const paid = totals.costUsd ?? 0;
  return (
    <div class="legend muted">
      <span>Task, model, tool</span>
      <span class="legend-axis">
        <span>0</span>
        <span>{duration(axis.length)} active</span>
      </span>
      <span class="span-facts">
        <span>{used > 0 ? `${tokens(used)} tok` : "tokens"}</span>
        <span>{paid > 0 ? money(paid) : "cost"}</span>
        <span>time</span>
      </span>
    </div>
  );
}

/** Reports that the steps of earlier tasks are incomplete. */
function EarlierNote({ earlier }: { earlier: TraceHistoryState }) {
  const { events, loading, cut, error } = earlier;
  const text =
    error !== undefined
      ? `The steps of earlier tasks cannot be loaded: ${error.message}`
      : cut
        ? `Only the first ${events.length.toLocaleString("en")} steps of earlier tasks are shown.`
        : loading
          ? "Loading the steps of earlier tasks…"
          : undefined;
  return (
    <div class="earlier-note" role="status">
      {text !== undefined && <p class="muted log-note">{text}</p>}
    </div>
  );
}

function indexOf(rows: readonly Span[], selection: TraceSelection): number {
  const exact = rows.findIndex((row) => row.key === selection.span);
  return exact >= 0 ? exact : rows.findIndex((row) => row.taskId === selection.taskId);
}

function spent(span: Span): string {
  return span.tokens === undefined ? "" : `${tokens(span.tokens)} tok`;
}

function cost(span: Span): string {
  return span.costUsd === undefined ? "" : money(span.costUsd);
}

function money(usd: number): string {
  return usd === 0 ? "$0" : usd < 0.01 ? "<1¢" : `$${usd.toFixed(2)}`;
}
