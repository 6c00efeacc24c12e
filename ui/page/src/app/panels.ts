import type { FunctionComponent } from "preact";
import { Artifacts } from "../artifacts/Artifacts.js";
import { Branches } from "../conversation/Branches.js";
import { Insight } from "../insight/Insight.js";
import type { IconName } from "../ui/Icon.js";

/**
 * What can stand beside a conversation. A panel takes what it shows from `useScene`: the view, the
 * route, and the conversation to act on.
 */
export interface Panel {
  readonly name: string;
  readonly icon: IconName;
  readonly component: FunctionComponent;
}

export const PANELS = {
  artifacts: { name: "Artifacts", icon: "file", component: Artifacts },
  insight: { name: "Understanding", icon: "waterfall", component: Insight },
  branches: { name: "Branches", icon: "branches", component: Branches },
} as const satisfies Record<string, Panel>;

export type PanelId = keyof typeof PANELS;
