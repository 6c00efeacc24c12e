import {
  type ArtifactVersion,
  type ArtifactView,
  fileName,
  type Json,
  sizeText,
} from "@parley/client";
import { useLayoutEffect, useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import { useConversationView } from "../conversation/conversation-context.js";
import { Icon } from "../ui/Icon.js";
import { saveFile } from "../ui/save-file.js";
import { useContent } from "./content.js";
import { DatasetView } from "./DatasetView.js";
import { FileView } from "./FileView.js";
import { JsonCompare, JsonView } from "./JsonTree.js";

/** One version of an artifact, with its actions. */
export function ArtifactDetails({ artifact }: { artifact: ArtifactView }) {
  const { openedArtifact } = useConversationView();
  const [chosen, setChosen] = useState<number>();
  useLayoutEffect(() => {
    if (openedArtifact?.artifactId === artifact.artifactId) {
      // The latest version stays selected when a newer one arrives.
      const latest = openedArtifact.version === artifact.latestVersion;
      setChosen(latest ? undefined : openedArtifact.version);
    }
  }, [openedArtifact]);
  const [against, setAgainst] = useState<number>();
  const { versions } = artifact;
  const version = versions.find((one) => one.version === chosen) ?? versions.at(-1) ?? artifact;
  const before = versions.find((one) => one.version === against && one !== version);
  const name = artifact.name ?? artifact.artifactId;
  return (
    <article class="artifact" aria-label={name} aria-busy={version.status === "building"}>
      <header class="artifact-head">
        <h3>{name}</h3>
        <span class="muted artifact-facts">
          <span>{version.mimeType ?? version.type}</span>
          <span>{sizeText(version.size)}</span>
          {version.status === "building" && <span class="building">writing</span>}
          {version.status === "failed" && <span class="problem">unfinished</span>}
        </span>
        <span class="spacer" />
        {versions.length > 1 && (
          <Versions
            label="Version"
            versions={versions}
            value={version.version}
            onChoose={setChosen}
          />
        )}
        {versions.length > 1 && version.type === "data" && (
          <Versions
            label="Compare with"
            none="Compare with…"
            versions={versions.filter((one) => one !== version)}
            value={before?.version}
            onChoose={setAgainst}
          />
        )}
        <Download version={version} name={name} />
      </header>
      {artifact.description !== undefined && <p class="muted">{artifact.description}</p>}
      <Content key={version.version} version={version} before={before} name={name} />
    </article>
  );
}

interface VersionsProps {
  readonly label: string;
  readonly none?: string;
  readonly versions: readonly ArtifactVersion[];
  readonly value: number | undefined;
  readonly onChoose: (version: number | undefined) => void;
}

function Versions({ label, none, versions, value, onChoose }: VersionsProps) {
  const chosen = (text: string): void => onChoose(text === "" ? undefined : Number(text));
  return (
    <label class="pick">
      <span class="sr-only">{label}</span>
      <select value={value ?? ""} onChange={(event) => chosen(event.currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {versions.map((one) => (
          <option key={one.version} value={one.version}>
            {none === undefined ? `Version ${one.version}` : `with version ${one.version}`}
          </option>
        ))}
      </select>
    </label>
  );
}

function Content(props: {
  version: ArtifactVersion;
  before: ArtifactVersion | undefined;
  name: string;
}) {
  const { version, before, name } = props;
  const loaded = useContent(version);
  if (loaded.status === "loading") {
    return (
      <p class="muted" role="status">
        Loading…
      </p>
    );
  }
  if (loaded.status === "failed") {
    return <p class="muted">{loaded.reason}</p>;
  }
  const { content } = loaded;
  switch (content.type) {
    case "data":
      return before === undefined ? (
        <JsonView value={content.data} />
      ) : (
        <Compared before={before} data={content.data} />
      );
    case "dataset":
      return (
        <DatasetView rows={content.rows} schema={version.schema} cut={content.cut} name={name} />
      );
    default:
      return <FileView version={version} content={content} name={name} />;
  }
}

function Compared(props: { before: ArtifactVersion; data: Json }) {
  const loaded = useContent(props.before);
  return loaded.status === "there" && loaded.content.type === "data" ? (
    <JsonCompare before={loaded.content.data} after={props.data} />
  ) : (
    <p class="muted">{loaded.status === "failed" ? loaded.reason : "Loading…"}</p>
  );
}

/** Downloads the version from the server. */
function Download({ version, name }: { version: ArtifactVersion; name: string }) {
  const { api } = useSession();
  const { view } = useConversationView();
  const [problem, setProblem] = useState<string>();
  const { artifactId, type } = version;
  const ending = type === "data" ? ".json" : type === "dataset" ? ".jsonl" : "";
  const download = async (): Promise<void> => {
    try {
      const at = { version: version.version };
      const response = await api.artifactContent(view.contextId, artifactId, at);
      const called = name.endsWith(ending) ? name : `${name}${ending}`;
      const bytes = await response.arrayBuffer();
      // Always download, never open, whatever the type.
      saveFile(fileName(called, `${artifactId}${ending}`), [bytes], "application/octet-stream");
      setProblem(undefined);
    } catch (failure) {
      setProblem(failure instanceof Error ? failure.message : String(failure));
    }
  };
  return (
    <>
      <button type="button" class="button small" onClick={() => void download()}>
        <Icon name="download" /> Download
      </button>
      {problem !== undefined && (
        <span class="problem" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}
