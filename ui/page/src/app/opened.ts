import { useEffect, useState } from "preact/hooks";
import { type PanelId, PANELS } from "./panels.js";

const OPENED = "parley.panel";

interface Opened {
  readonly panel: PanelId | undefined;
  /** True if it was opened here, and not before a reload: only then it takes the focus. */
  readonly byHand: boolean;
}

/**
 * The panel beside a conversation. It stays over a reload, in this tab only: in the address it
 * would open for everybody who is sent a link. Who leaves the conversation leaves it too.
 */
export function usePanel(contextId: string): [Opened, (panel: PanelId | undefined) => void] {
  const [opened, setOpened] = useState<Opened>(() => ({ panel: kept(contextId), byHand: false }));
  useEffect(() => () => keep(contextId, undefined), [contextId]);
  return [
    opened,
    (panel) => {
      setOpened({ panel, byHand: true });
      keep(contextId, panel);
    },
  ];
}

function kept(contextId: string): PanelId | undefined {
  try {
    const [of, panel] = JSON.parse(sessionStorage.getItem(OPENED) ?? "[]") as string[];
    return of === contextId && Object.hasOwn(PANELS, panel ?? "") ? (panel as PanelId) : undefined;
  } catch {
    return undefined;
  }
}

function keep(contextId: string, panel: PanelId | undefined): void {
  try {
    if (panel === undefined) {
      sessionStorage.removeItem(OPENED);
    } else {
      sessionStorage.setItem(OPENED, JSON.stringify([contextId, panel]));
    }
  } catch {
    // Without storage it is closed after a reload.
  }
}
