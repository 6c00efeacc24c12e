import {
  EventDetails,
  EventLog,
  parsePosition,
  Store,
  TraceHistory,
  type TraceSelection,
  view as viewOf,
  waterfallOf,
} from "@parley/client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useLiveTime, useStore } from "../app/hooks.js";
import { useSession } from "../app/session.js";
import { StateContext, useConversationView } from "../conversation/conversation-context.js";
import { ExportButtons } from "./ExportButtons.js";
import { LogView } from "./LogView.js";
import { useThreadSelection } from "./thread-selection.js";
import { TimeSlider } from "./TimeSlider.js";
import { WaterfallView } from "./WaterfallView.js";

/**
 * The trace of a conversation: tasks over time with cost, and the event log. A selection in one
 * view is highlighted in the others.
 */
export function TracePanel() {
  const { api } = useSession();
  const { state, view: loaded, asOf } = useConversationView();
  const { contextId } = state;
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const selection = useMemo(() => new Store<TraceSelection | undefined>(undefined), [contextId]);
  const log = useMemo(() => new EventLog(api, contextId), [api, contextId]);
  useEffect(() => () => log.close(), [log]);
  const details = useMemo(() => new EventDetails(api, contextId), [api, contextId]);
  useEffect(() => () => details.close(), [details]);
  const { seq } = parsePosition(loaded.position);
  useEffect(() => log.reach(seq), [log, seq]);
  // The conversation loads only recent events; the trace needs the steps of all tasks.
  const history = useMemo(() => new TraceHistory(api, contextId), [api, contextId]);
  useEffect(() => () => history.close(), [history]);
  useEffect(() => history.reach(state.base), [history, state.base]);
  const earlier = useStore(history);
  const complete = useMemo(() => history.complete(state), [history, state, earlier.events]);
  const view = viewOf(complete);
  useThreadSelection(view, selection);
  const running = asOf === undefined && (view.active !== undefined || view.queue.length > 0);
  const now = useLiveTime(running);
  const time = running ? now : undefined;
  const waterfall = useMemo(() => waterfallOf(view, folded, time), [view, folded, time]);
  const fold = (key: string, closed: boolean): void => {
    const next = new Set(folded);
    if (closed) {
      next.add(key);
    } else {
      next.delete(key);
    }
    setFolded(next);
  };
  return (
    <StateContext.Provider value={complete}>
      <div class="trace">
        <div class="trace-bar">
          <TimeSlider seq={seq} />
          <ExportButtons />
        </div>
        <WaterfallView
          waterfall={waterfall}
          totals={loaded.totals}
          earlier={earlier}
          selection={selection}
          details={details}
          onFold={fold}
        />
        <LogView log={log} selection={selection} details={details} />
      </div>
    </StateContext.Provider>
  );
}
