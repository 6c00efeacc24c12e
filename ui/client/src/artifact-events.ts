import type { DatasetWrite, DataWrite, FileWrite, JsonObject } from "./events.js";
import { activeAt } from "./rewind.js";
import type { ArtifactVersion, ContextState } from "./state.js";
import { optional } from "./task-events.js";

type Write = FileWrite | DataWrite | DatasetWrite;

/** Longer content is not kept; load it from the server. */
export const CONTENT_MAX = 1 << 20;
export const ROWS_MAX = 10_000;

const GROUP = 4;
const TYPES = { "file-write": "file", "data-write": "data", "dataset-write": "dataset" } as const;
const encoder = new TextEncoder();

/** Applies a write event. */
export function write(state: ContextState, event: Write): ContextState {
  const at = indexOf(event) === 0 ? -1 : lastVersion(state, event);
  const version = state.versions[at];
  const counts = activeAt(state.rewinds, state.seq);
  if (version === undefined || !counts(version.firstSeq)) {
    const begun = begin(state, event);
    const next = indexOf(event) === 0 ? extend(begun, event) : failed(begun, event);
    return { ...state, versions: [...state.versions, next] };
  }
  if (version.status !== "building") {
    return state;
  }
  const grown = extend(version, event);
  return { ...state, versions: state.versions.map((one, i) => (i === at ? grown : one)) };
}

/** Marks the versions that an ended task left incomplete as failed. */
export function failOf(
  versions: readonly ArtifactVersion[],
  taskId: string,
  timestamp: string,
): readonly ArtifactVersion[] {
  const open = (one: ArtifactVersion): boolean =>
    one.status === "building" && one.taskId === taskId;
  return versions.some(open)
    ? versions.map((one) => (open(one) ? { ...one, status: "failed", updatedAt: timestamp } : one))
    : versions;
}

function lastVersion(state: ContextState, event: Write): number {
  for (let i = state.versions.length - 1; i >= 0; i--) {
    const one = state.versions[i];
    const named = event.version === undefined || one?.version === event.version;
    if (one?.artifactId === event.artifactId && named) {
      return i;
    }
  }
  return -1;
}

function begin(state: ContextState, event: Write): ArtifactVersion {
  const counts = activeAt(state.rewinds, state.seq);
  const same = state.versions.filter((one) => one.artifactId === event.artifactId);
  const latest = same.filter((one) => counts(one.firstSeq)).at(-1);
  const highest = same.reduce((max, one) => Math.max(max, one.version), 0);
  return {
    artifactId: event.artifactId,
    type: TYPES[event.kind],
    version: event.version ?? highest + 1,
    status: "building",
    ...optional("name", event.name),
    ...optional("description", event.description),
    ...optional("mimeType", event.kind === "file-write" ? event.mimeType : undefined),
    ...optional("encoding", event.kind === "file-write" ? event.encoding : undefined),
    ...optional("schema", event.kind === "dataset-write" ? event.schema : undefined),
    size: 0,
    ...optional("taskId", event.taskId),
    firstSeq: event.seq,
    lastSeq: event.seq,
    createdAt: event.timestamp,
    updatedAt: event.timestamp,
    begin: latest?.begin ?? event.seq,
    nextIndex: 0,
    carry: "",
    content: event.kind === "file-write" ? "" : event.kind === "dataset-write" ? [] : undefined,
  };
}

function extend(version: ArtifactVersion, event: Write): ArtifactVersion {
  const expected = version.nextIndex === undefined || version.nextIndex === indexOf(event);
  if (!expected || version.type !== TYPES[event.kind]) {
    return failed(version, event);
  }
  const chunk = sizeOf(version, event);
  if (chunk === undefined) {
    return failed(version, event);
  }
  return {
    ...version,
    size: version.size + chunk.size,
    carry: chunk.carry,
    nextIndex: version.nextIndex === undefined ? undefined : version.nextIndex + 1,
    lastSeq: event.seq,
    updatedAt: event.timestamp,
    status: event.kind === "data-write" || event.complete ? "complete" : "building",
    content: joined(version.content, event),
  };
}

function failed(version: ArtifactVersion, event: Write): ArtifactVersion {
  return { ...version, status: "failed", updatedAt: event.timestamp };
}

function indexOf(event: Write): number {
  return event.kind === "data-write" ? 0 : event.index;
}

function joined(before: ArtifactVersion["content"], event: Write): ArtifactVersion["content"] {
  if (event.kind === "data-write") {
    return event.data;
  }
  if (event.kind === "file-write") {
    const fits = typeof before === "string" && before.length + event.data.length <= CONTENT_MAX;
    return fits ? before + event.data : undefined;
  }
  const fits = Array.isArray(before) && before.length + event.rows.length <= ROWS_MAX;
  return fits ? [...(before as readonly JsonObject[]), ...event.rows] : undefined;
}

/**
 * The number of bytes that a write adds, and the incomplete base64 group at its end. Undefined if
 * the data is not valid base64.
 */
function sizeOf(
  version: ArtifactVersion,
  event: Write,
): { size: number; carry: string } | undefined {
  if (event.kind === "data-write") {
    return { size: bytes(JSON.stringify(event.data)), carry: "" };
  }
  if (event.kind === "dataset-write") {
    const size = event.rows.reduce((sum, row) => sum + bytes(JSON.stringify(row)) + 1, 0);
    return { size, carry: "" };
  }
  if (version.encoding !== "base64") {
    return { size: bytes(event.data), carry: "" };
  }
  const text = version.carry + event.data.replace(/\s/g, "");
  const whole = event.complete ? text.length : text.length - (text.length % GROUP);
  const decoded = text.slice(0, whole);
  return /^[A-Za-z0-9+/]*={0,2}$/.test(decoded)
    ? {
        size: Math.floor((decoded.replace(/=+$/, "").length * 3) / GROUP),
        carry: text.slice(whole),
      }
    : undefined;
}

function bytes(text: string): number {
  return encoder.encode(text).length;
}
