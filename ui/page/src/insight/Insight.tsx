import { EventLog, type Mark, parsePosition, Store, waterfallOf } from "@parley/client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import { useScene } from "../conversation/scene.js";
import { Export } from "./Export.js";
import { LogView } from "./LogView.js";
import { useConversationMarks } from "./pointing.js";
import { Scrub } from "./Scrub.js";
import { WaterfallView } from "./WaterfallView.js";

/**
 * What happened, and why: the tree of tasks with when and for how much, and the log beneath it.
 * What one points at in one of them, or in the conversation, is marked in the others.
 */
export function Insight() {
  const { api } = useSession();
  const { view } = useScene();
  const { contextId } = view;
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const mark = useMemo(() => new Store<Mark | undefined>(undefined), [contextId]);
  const log = useMemo(() => new EventLog(api, contextId), [api, contextId]);
  useEffect(() => () => log.close(), [log]);
  const { seq } = parsePosition(view.position);
  useEffect(() => log.reach(seq), [log, seq]);
  useConversationMarks(mark);
  const waterfall = useMemo(() => waterfallOf(view, folded), [view, folded]);
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
    <div class="insight">
      <div class="insight-bar">
        <Scrub seq={seq} />
        <Export />
      </div>
      <WaterfallView waterfall={waterfall} mark={mark} log={log} onFold={fold} />
      <LogView log={log} mark={mark} />
    </div>
  );
}
