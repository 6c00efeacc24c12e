import { type ArtifactView, sizeText } from "@parley/client";
import { useState } from "preact/hooks";
import { useScene } from "../conversation/scene.js";
import { count } from "../ui/format.js";
import { Icon, type IconName } from "../ui/Icon.js";
import { Artifact } from "./Artifact.js";

const ICONS: Readonly<Record<ArtifactView["type"], IconName>> = {
  file: "file",
  data: "tree",
  dataset: "log",
};

/** Everything that the agents of a conversation wrote, and one of it from near. */
export function Artifacts() {
  const { view } = useScene();
  const [chosen, setChosen] = useState<string>();
  const { artifacts } = view;
  const [only, ...others] = artifacts;
  const single = others.length === 0 ? only?.artifactId : undefined;
  const shown = artifacts.find((one) => one.artifactId === (chosen ?? single));
  if (only === undefined) {
    return (
      <p class="quiet empty">
        Nothing was written here yet. Agents put files, data and tables here; try{" "}
        <q>write a report on tea</q>.
      </p>
    );
  }
  return (
    <div class="artifacts">
      {shown === undefined ? (
        <ul class="artifact-list" aria-label={count(artifacts.length, "artifact")}>
          {artifacts.map((one) => (
            <Entry key={one.artifactId} artifact={one} onOpen={() => setChosen(one.artifactId)} />
          ))}
        </ul>
      ) : (
        <>
          {others.length > 0 && (
            <button class="button quiet small" onClick={() => setChosen(undefined)}>
              <Icon name="back" /> All artifacts
            </button>
          )}
          <Artifact key={shown.artifactId} artifact={shown} />
        </>
      )}
    </div>
  );
}

function Entry({ artifact, onOpen }: { artifact: ArtifactView; onOpen: () => void }) {
  const { name, artifactId, type, latestVersion, size, status } = artifact;
  return (
    <li>
      <button class="artifact-entry" data-status={status} onClick={onOpen}>
        <Icon name={ICONS[type]} />
        <span class="artifact-name">{name ?? artifactId}</span>
        <span class="quiet artifact-facts">
          {status === "building" && <span class="spinner" role="img" aria-label="being written" />}
          {status === "failed" && <span class="problem">unfinished</span>}
          {latestVersion > 1 && <span>version {latestVersion}</span>}
          <span>{sizeText(size)}</span>
        </span>
      </button>
    </li>
  );
}
