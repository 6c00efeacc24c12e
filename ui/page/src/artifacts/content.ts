import {
  type ArtifactContent,
  type ArtifactVersion,
  knownContent,
  loadContent,
  ParleyError,
  SHOWN_BYTES_MAX,
} from "@parley/client";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import { useConversationView } from "../conversation/conversation-context.js";

/** The content of a version, or the reason why it is missing. */
export type Loaded =
  | { readonly status: "loading" }
  | { readonly status: "failed"; readonly reason: string }
  | { readonly status: "there"; readonly content: ArtifactContent };

/** Polling interval for artifacts that are still being written. */
const AGAIN_MS = 500;
/** Delay before a retry. */
const RETRY_MS = 2_000;
const LOADING: Loaded = { status: "loading" };

/** The content of a version, from the events or from the server. */
export function useContent(version: ArtifactVersion): Loaded {
  const { api } = useSession();
  const { view, past } = useConversationView();
  const known = useMemo(() => knownContent(version), [version.content, version.status]);
  const [loaded, setLoaded] = useState<{ of: string; state: Loaded }>();
  const latest = useRef(version);
  latest.current = version;
  const of = `${view.contextId} ${version.artifactId} ${version.version}`;
  const building = version.status === "building";
  const lost = building && past.get().at !== undefined;
  const ask = known === undefined && !lost && version.size <= SHOWN_BYTES_MAX;
  useEffect(() => {
    if (!ask) {
      return undefined;
    }
    const gone = new AbortController();
    let asked: number | undefined;
    let asking = false;
    let retry: ReturnType<typeof setTimeout> | undefined;
    const load = (): void => {
      const wanted = latest.current;
      if (asking || wanted.lastSeq === asked) {
        return;
      }
      asked = wanted.lastSeq;
      asking = true;
      loadContent(api, view.contextId, wanted, gone.signal)
        .then(
          (content): Loaded => ({ status: "there", content }),
          (failure: unknown): Loaded => {
            const reason = failure instanceof Error ? failure.message : String(failure);
            if (!gone.signal.aborted && failure instanceof ParleyError && failure.retryable) {
              asked = undefined;
              retry = setTimeout(load, RETRY_MS);
              return { status: "failed", reason: `${reason} Retrying automatically.` };
            }
            return { status: "failed", reason };
          },
        )
        .then((state) => {
          asking = false;
          if (!gone.signal.aborted) {
            setLoaded({ of, state });
          }
        });
    };
    if (!building) {
      load();
    }
    const timer = building ? setInterval(load, AGAIN_MS) : undefined;
    return () => {
      clearInterval(timer);
      clearTimeout(retry);
      gone.abort();
    };
  }, [ask, of, building]);
  if (known !== undefined) {
    return { status: "there", content: known };
  }
  if (lost) {
    return { status: "failed", reason: "The content at that time is no longer available." };
  }
  if (!ask) {
    return {
      status: "failed",
      reason: "This content is too large to display. Download it instead.",
    };
  }
  return loaded?.of === of ? loaded.state : LOADING;
}
