import { useLayoutEffect } from "preact/hooks";
import { useSelectedArtifact } from "../app/panel-state.js";
import { useConversationView } from "../conversation/conversation-context.js";
import { count } from "../ui/format.js";
import { Icon } from "../ui/Icon.js";
import { ArtifactDetails } from "./ArtifactDetails.js";
import { ArtifactButton } from "./ArtifactButton.js";

/** The artifacts of a conversation, and the selected one. */
export function ArtifactsPanel() {
  const { view, openedArtifact } = useConversationView();
  const [chosen, setChosen] = useSelectedArtifact(openedArtifact?.artifactId);
  // A click in the conversation shows the artifact.
  useLayoutEffect(() => {
    if (openedArtifact !== undefined) {
      setChosen(openedArtifact.artifactId);
    }
  }, [openedArtifact]);
  const { artifacts } = view;
  const [only, ...others] = artifacts;
  const single = others.length === 0 ? only?.artifactId : undefined;
  const shown = artifacts.find((one) => one.artifactId === (chosen ?? single));
  if (only === undefined) {
    return (
      <p class="muted empty">
        No artifacts yet. Agents save files, data and tables here. Try <q>write a report on tea</q>.
      </p>
    );
  }
  return (
    <div class="artifacts">
      {shown === undefined ? (
        <ul class="artifact-list" aria-label={count(artifacts.length, "artifact")}>
          {artifacts.map((one) => (
            <li key={one.artifactId}>
              <ArtifactButton version={one} onOpen={() => setChosen(one.artifactId)} />
            </li>
          ))}
        </ul>
      ) : (
        <>
          {others.length > 0 && (
            <button type="button" class="button muted small" onClick={() => setChosen(undefined)}>
              <Icon name="back" /> All artifacts
            </button>
          )}
          <ArtifactDetails key={shown.artifactId} artifact={shown} />
        </>
      )}
    </div>
  );
}
