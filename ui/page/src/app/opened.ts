import { useEffect, useRef, useState } from "preact/hooks";
import { type PanelId, PANELS } from "./panels.js";
import { parseRoute, replace, type Route } from "./route.js";

/** On such a screen a panel covers the conversation, so that Back is what leads out of it. */
const COVERED = "(max-width: 60rem)";

/**
 * What is kept with an entry of the browser's history: it stays over a reload, and Back brings it
 * again. In the address it would open for everybody who is sent a link.
 */
interface Kept {
  readonly panel: PanelId | undefined;
  /** The artifact that the panel shows, of several. */
  readonly artifact?: string | undefined;
  /** True if the entry before it is the same without a panel. */
  readonly pushed?: boolean | undefined;
}

interface Opened {
  readonly panel: PanelId | undefined;
  /** True if it was opened here, and not by a reload or by Back: only then it takes the focus. */
  readonly byHand: boolean;
}

/** The panel beside a conversation. */
export function usePanel(
  contextId: string,
  route: Route,
): [Opened, (panel: PanelId | undefined) => void] {
  const [opened, setOpened] = useState<Opened>(() => ({ panel: kept()?.panel, byHand: false }));
  const latest = useRef({ panel: opened.panel, pushed: false, route });
  latest.current = { panel: opened.panel, pushed: kept()?.pushed === true, route };
  // While the browser goes back, what is opened meanwhile waits for it to have done so.
  const leaving = useRef<{ next: PanelId | undefined } | undefined>(undefined);
  useEffect(() => {
    const moved = (): void => {
      if (parseRoute(location.hash).contextId !== contextId) {
        return;
      }
      const there = kept();
      const here = latest.current;
      const next = leaving.current?.next;
      leaving.current = undefined;
      if (there === undefined) {
        // A link was followed: what stands beside the conversation stays there.
        keep({ panel: here.panel });
        return;
      }
      if (here.pushed && there.panel === undefined) {
        // What was chosen in the panel, such as a moment of the past, stays when it is closed.
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
      } else if (panel === undefined && kept()?.pushed === true) {
        leaving.current = { next: undefined };
        history.back();
      } else {
        move(kept(), panel);
      }
    },
  ];
}

function move(here: Kept | undefined, panel: PanelId | undefined): void {
  if (panel !== undefined && here?.panel === undefined && matchMedia(COVERED).matches) {
    keep({ panel: undefined });
    history.pushState({ panel, pushed: true } satisfies Kept, "");
  } else {
    keep({ panel, pushed: here?.pushed });
  }
}

/** The artifact that is looked at, of several. */
export function useKeptArtifact(
  first: string | undefined,
): [string | undefined, (artifact: string | undefined) => void] {
  const [artifact, setArtifact] = useState(() => first ?? kept()?.artifact);
  return [
    artifact,
    (next) => {
      setArtifact(next);
      keep({ ...kept(), panel: "artifacts", artifact: next });
    },
  ];
}

function kept(): Kept | undefined {
  const { panel, artifact, pushed } = (history.state ?? {}) as Record<string, unknown>;
  return history.state === null
    ? undefined
    : {
        panel: Object.hasOwn(PANELS, String(panel)) ? (panel as PanelId) : undefined,
        artifact: typeof artifact === "string" ? artifact : undefined,
        pushed: pushed === true,
      };
}

function keep(state: Kept): void {
  history.replaceState(state, "");
}
