import { useLayoutEffect } from "preact/hooks";
import { useKeptArtifact } from "../app/opened.js";
import { useScene } from "../conversation/scene.js";
import { count } from "../ui/format.js";
import { Icon } from "../ui/Icon.js";
import { Artifact } from "./Artifact.js";
import { Entry } from "./Entry.js";

/** Everything that the agents of a conversation wrote, and one of it from near. */
export function Artifacts() {
  const { view, pressed } = useScene();
  const [chosen, setChosen] = useKeptArtifact(pressed?.artifactId);
  // Whoever presses it in the conversation wants to see it, whatever is open here.
  useLayoutEffect(() => {
    if (pressed !== undefined) {
      setChosen(pressed.artifactId);
    }
  }, [pressed]);
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
            <li key={one.artifactId}>
              <Entry version={one} onOpen={() => setChosen(one.artifactId)} />
            </li>
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
