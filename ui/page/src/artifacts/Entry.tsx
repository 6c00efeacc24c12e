import { type ArtifactVersion, sizeText } from "@parley/client";
import { Icon, type IconName } from "../ui/Icon.js";

const ICONS: Readonly<Record<ArtifactVersion["type"], IconName>> = {
  file: "file",
  data: "tree",
  dataset: "log",
};

interface EntryProps {
  readonly version: ArtifactVersion;
  /** True if it stands among other things: then it says what it is, and where it opens. */
  readonly apart?: boolean;
  readonly onOpen: () => void;
}

/** An artifact in one line, to be opened. It is as high while it grows as it is when it is done. */
export function Entry({ version: one, apart = false, onOpen }: EntryProps) {
  const title = apart ? "Open in Artifacts" : undefined;
  return (
    <button class="artifact-entry" data-status={one.status} title={title} onClick={onOpen}>
      <Icon name={ICONS[one.type]} />
      <span class="artifact-name">{one.name ?? one.artifactId}</span>
      <span class="quiet artifact-facts">
        {one.status === "building" && (
          <span class="spinner" role="img" aria-label="being written" />
        )}
        {one.status === "failed" && <span class="problem">unfinished</span>}
        {one.version > 1 && <span>version {one.version}</span>}
        {apart && <span class="artifact-kind">{one.mimeType ?? one.type}</span>}
        <span class="artifact-size">{sizeText(one.size)}</span>
      </span>
    </button>
  );
}
