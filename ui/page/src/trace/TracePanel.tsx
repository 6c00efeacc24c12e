import { EventLog, type TraceSelection, parsePosition, Store, waterfallOf } from "@parley/client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useLiveTime } from "../app/hooks.js";
import { useSession } from "../app/session.js";
import { useConversationView } from "../conversation/conversation-context.js";
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
  const { view, asOf } = useConversationView();
  const { contextId } = view;
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const selection = useMemo(() => new Store<TraceSelection | undefined>(undefined), [contextId]);
  const log = useMemo(() => new EventLog(api, contextId), [api, contextId]);
  useEffect(() => () => log.close(), [log]);
  const { seq } = parsePosition(view.position);
  useEffect(() => log.reach(seq), [log, seq]);
  useThreadSelection(selection);
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
    <div class="trace">
      <div class="trace-bar">
        <TimeSlider seq={seq} />
        <ExportButtons />
      </div>
      <WaterfallView waterfall={waterfall} selection={selection} log={log} onFold={fold} />
      <LogView log={log} selection={selection} />
    </div>
  );
}
