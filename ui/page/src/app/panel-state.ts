import { useEffect, useRef, useState } from "preact/hooks";
import { type PanelId, PANELS } from "./panels.js";
import { parseRoute, replace, type Route } from "./route.js";

/** On narrow screens a panel covers the conversation, and Back closes it. */
const COVERED = "(max-width: 60rem)";

/**
 * State of a browser history entry: it survives a reload, and Back restores it. It is not in the
 * address, so that shared links do not open panels.
 */
interface PanelHistoryState {
  readonly panel: PanelId | undefined;
  /** The artifact that the panel shows. */
  readonly artifact?: string | undefined;
  /** True if the previous history entry is the same conversation without a panel. */
  readonly pushed?: boolean | undefined;
}

interface OpenedPanel {
  readonly panel: PanelId | undefined;
  /** True if the user opened it, not a reload or Back: only then it takes the focus. */
  readonly byHand: boolean;
}

/** The open panel of a conversation. */
export function usePanel(
  contextId: string,
  route: Route,
): [OpenedPanel, (panel: PanelId | undefined) => void] {
  const [opened, setOpened] = useState<OpenedPanel>(() => ({
    panel: readState()?.panel,
    byHand: false,
  }));
  const latest = useRef({ panel: opened.panel, pushed: false, route });
  latest.current = { panel: opened.panel, pushed: readState()?.pushed === true, route };
  // The panel to open after the browser has gone back.
  const leaving = useRef<{ next: PanelId | undefined } | undefined>(undefined);
  useEffect(() => {
    const moved = (): void => {
      if (parseRoute(location.hash).contextId !== contextId) {
        return;
      }
      const there = readState();
      const here = latest.current;
      const next = leaving.current?.next;
      leaving.current = undefined;
      if (there === undefined) {
        // After a link within the conversation, the panel stays open.
        writeState({ panel: here.panel });
        return;
      }
      if (here.pushed && there.panel === undefined) {
        // A choice made in the panel, such as a past event, stays after it is closed.
        replace(here.route);
      }
      if (next === undefined) {
        setOpened({ panel: there.panel, byHand: false });
      } else {
        move(there, next);
      }
    };
    addEventListener("popstate", moved);
    return () => removeEventListener("popstate", moved);
  }, [contextId]);
  return [
    opened,
    (panel) => {
      setOpened({ panel, byHand: true });
      if (leaving.current !== undefined) {
        leaving.current = { next: panel };
      } else if (panel === undefined && readState()?.pushed === true) {
        leaving.current = { next: undefined };
        history.back();
      } else {
        move(readState(), panel);
      }
    },
  ];
}

function move(here: PanelHistoryState | undefined, panel: PanelId | undefined): void {
  if (panel !== undefined && here?.panel === undefined && matchMedia(COVERED).matches) {
    writeState({ panel: undefined });
    history.pushState({ panel, pushed: true } satisfies PanelHistoryState, "");
  } else {
    writeState({ panel, pushed: here?.pushed });
  }
}

/** The selected artifact. */
export function useSelectedArtifact(
  first: string | undefined,
): [string | undefined, (artifact: string | undefined) => void] {
  const [artifact, setArtifact] = useState(() => first ?? readState()?.artifact);
  return [
    artifact,
    (next) => {
      setArtifact(next);
      writeState({ ...readState(), panel: "artifacts", artifact: next });
    },
  ];
}

function readState(): PanelHistoryState | undefined {
  const { panel, artifact, pushed } = (history.state ?? {}) as Record<string, unknown>;
  return history.state === null
    ? undefined
    : {
        panel: Object.hasOwn(PANELS, String(panel)) ? (panel as PanelId) : undefined,
        artifact: typeof artifact === "string" ? artifact : undefined,
        pushed: pushed === true,
      };
}

function writeState(state: PanelHistoryState): void {
  history.replaceState(state, "");
}
