import { type ArtifactVersion, sizeText } from "@parley/client";
import { Icon, type IconName } from "../ui/Icon.js";

const ICONS: Readonly<Record<ArtifactVersion["type"], IconName>> = {
  file: "file",
  data: "tree",
  dataset: "log",
};

interface ArtifactButtonProps {
  readonly version: ArtifactVersion;
  /** True if it is shown in the conversation: it then shows its type. */
  readonly inThread?: boolean;
  readonly onOpen: () => void;
}

/** A button that opens an artifact. Its height does not change while the artifact grows. */
export function ArtifactButton({ version: one, inThread = false, onOpen }: ArtifactButtonProps) {
  const title = inThread ? "Open in Artifacts" : undefined;
  return (
    <button
      type="button"
      class="artifact-entry"
      data-status={one.status}
      title={title}
      onClick={onOpen}
    >
      <Icon name={ICONS[one.type]} />
      <span class="artifact-name">{one.name ?? one.artifactId}</span>
      <span class="muted artifact-facts">
        {one.status === "building" && <span class="spinner" role="img" aria-label="writing" />}
        {one.status === "failed" && <span class="problem">unfinished</span>}
        {one.version > 1 && <span>version {one.version}</span>}
        {inThread && <span class="artifact-kind">{one.mimeType ?? one.type}</span>}
        <span class="artifact-size">{sizeText(one.size)}</span>
      </span>
    </button>
  );
}
