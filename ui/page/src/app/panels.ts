import type { FunctionComponent } from "preact";
import { ArtifactsPanel } from "../artifacts/ArtifactsPanel.js";
import { BranchesPanel } from "../conversation/BranchesPanel.js";
import { TracePanel } from "../trace/TracePanel.js";
import type { IconName } from "../ui/Icon.js";

/** A panel beside the conversation. It reads its data from `useConversationView`. */
export interface Panel {
  readonly name: string;
  readonly icon: IconName;
  readonly component: FunctionComponent;
}

export const PANELS = {
  artifacts: { name: "Artifacts", icon: "file", component: ArtifactsPanel },
  trace: { name: "Trace", icon: "waterfall", component: TracePanel },
  branches: { name: "Branches", icon: "branches", component: BranchesPanel },
} as const satisfies Record<string, Panel>;

export type PanelId = keyof typeof PANELS;
