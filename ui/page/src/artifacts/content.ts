import {
  type ArtifactContent,
  type ArtifactVersion,
  knownContent,
  loadContent,
  SHOWN_BYTES_MAX,
} from "@parley/client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import { useScene } from "../conversation/scene.js";

/** What is in a version, as far as it is there; or why it is not. */
export type Loaded =
  | { readonly status: "loading" }
  | { readonly status: "failed"; readonly reason: string }
  | { readonly status: "there"; readonly content: ArtifactContent };

/** What is still being written is asked for again no sooner than this. */
const AGAIN_MS = 500;
const LOADING: Loaded = { status: "loading" };

/** The content of a version: what the log has told, or else what the server has. */
export function useContent(version: ArtifactVersion): Loaded {
  const { api } = useSession();
  const { view, past } = useScene();
  const known = useMemo(() => knownContent(version), [version.content, version.status]);
  const [loaded, setLoaded] = useState<{ of: string; state: Loaded }>();
  const of = `${view.contextId} ${version.artifactId} ${version.version}`;
  const building = version.status === "building";
  const lost = building && past.get().at !== undefined;
  const ask = known === undefined && !lost && version.size <= SHOWN_BYTES_MAX;
  useEffect(() => {
    if (!ask) {
      return undefined;
    }
    const gone = new AbortController();
    const load = (): void => {
      loadContent(api, view.contextId, version, gone.signal).then(
        (content) => setLoaded({ of, state: { status: "there", content } }),
        (failure: unknown) => {
          if (!gone.signal.aborted) {
            const reason = failure instanceof Error ? failure.message : String(failure);
            setLoaded({ of, state: { status: "failed", reason } });
          }
        },
      );
    };
    const timer = setTimeout(load, building ? AGAIN_MS : 0);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [ask, of, building, building ? version.lastSeq : 0]);
  if (known !== undefined) {
    return { status: "there", content: known };
  }
  if (lost) {
    return { status: "failed", reason: "What was there of it then is no longer loaded." };
  }
  if (!ask) {
    return { status: "failed", reason: "It is too large to be shown here. It can be saved." };
  }
  return loaded?.of === of ? loaded.state : LOADING;
}
