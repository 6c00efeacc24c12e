import type { ParleyApi } from "./api.js";
import type { Json, JsonObject } from "./events.js";
import type { ArtifactVersion } from "./state.js";

/** The content of an artifact version. */
export type ArtifactContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "bytes"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: "data"; readonly data: Json }
  | {
      readonly type: "dataset";
      readonly rows: readonly JsonObject[];
      /** True if rows are missing because of the limit. */
      readonly cut: boolean;
    };

/** How a file is displayed. */
export type FileKind = "markdown" | "image" | "pdf" | "code" | "binary";

/** The maximum number of rows to display. */
export const LOADED_ROWS_MAX = 50_000;
/** The maximum size of a file to display. */
export const SHOWN_BYTES_MAX = 8 << 20;

const IMAGES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
  svg: "image/svg+xml",
};
const IMAGE_TYPES = new Set(Object.values(IMAGES));
const MARKDOWN = ["md", "markdown"];
const LANGUAGES: Readonly<Record<string, string>> = {
  bash: "bash",
  cjs: "javascript",
  css: "css",
  csv: "csv",
  diff: "diff",
  go: "go",
  htm: "xml",
  html: "xml",
  java: "java",
  js: "javascript",
  json: "json",
  jsx: "javascript",
  kt: "java",
  log: "text",
  mjs: "javascript",
  patch: "diff",
  py: "python",
  rs: "rust",
  sh: "bash",
  sql: "sql",
  svg: "xml",
  ts: "typescript",
  tsx: "typescript",
  txt: "text",
  xml: "xml",
  yaml: "yaml",
  yml: "yaml",
};
const TEXT_TYPES = /^text\/|^application\/(json|xml|javascript|x-sh|sql|.*\+(json|xml)|x?-?yaml)/;

interface FileFacts {
  readonly name?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly encoding?: string | undefined;
}

/** How to display a file, by its type and name. */
export function fileKind(file: FileFacts): FileKind {
  const type = typeOf(file);
  const ending = endingOf(file);
  if (type === "text/markdown" || (MARKDOWN.includes(ending) && !IMAGE_TYPES.has(type))) {
    return "markdown";
  }
  if (imageType(file) !== undefined) {
    return "image";
  }
  if (type === "application/pdf" || (type === "" && ending === "pdf")) {
    return "pdf";
  }
  const text = type === "" ? file.encoding !== "base64" : TEXT_TYPES.test(type);
  return text || LANGUAGES[ending] !== undefined ? "code" : "binary";
}

/** The MIME type of a supported image format; undefined for other files. */
export function imageType(file: FileFacts): string | undefined {
  const type = typeOf(file);
  return IMAGE_TYPES.has(type) ? type : type === "" ? IMAGES[endingOf(file)] : undefined;
}

/** The programming language of a file, derived from its name or type. */
export function languageOf(file: FileFacts): string | undefined {
  const byType = /(json|xml|html|javascript|markdown|yaml)\b/.exec(typeOf(file))?.[1];
  return LANGUAGES[endingOf(file)] ?? (byType === "html" ? "xml" : byType);
}

function typeOf({ mimeType }: FileFacts): string {
  return (mimeType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function endingOf({ name }: FileFacts): string {
  return /\.([A-Za-z0-9]{1,10})$/.exec(name ?? "")?.[1]?.toLowerCase() ?? "";
}

/** The content of a version if the events contain all of it; otherwise undefined. */
export function knownContent(version: ArtifactVersion): ArtifactContent | undefined {
  const { content } = version;
  if (content === undefined) {
    return undefined;
  }
  if (version.type === "data") {
    return { type: "data", data: content as Json };
  }
  if (version.type === "dataset") {
    return { type: "dataset", rows: content as readonly JsonObject[], cut: false };
  }
  if (typeof content !== "string") {
    return undefined;
  }
  return version.encoding === "base64"
    ? ofBase64(content, version)
    : { type: "text", text: content };
}

function ofBase64(content: string, version: ArtifactVersion): ArtifactContent | undefined {
  const whole = content.replace(/\s/g, "");
  const usable = version.status === "complete" ? whole : whole.slice(0, whole.length & ~3);
  try {
    const bytes = Uint8Array.from(atob(usable), (one) => one.charCodeAt(0));
    return ofBytes(bytes, version);
  } catch {
    return undefined;
  }
}

/** Decodes bytes that are readable text. */
function ofBytes(bytes: Uint8Array<ArrayBuffer>, file: FileFacts): ArtifactContent {
  const kind = fileKind(file);
  return kind === "code" || kind === "markdown"
    ? { type: "text", text: new TextDecoder().decode(bytes) }
    : { type: "bytes", bytes };
}

/** Loads the content of a version from the server. */
export async function loadContent(
  api: ParleyApi,
  contextId: string,
  version: ArtifactVersion,
  signal?: AbortSignal,
): Promise<ArtifactContent> {
  const response = await api.artifactContent(contextId, version.artifactId, {
    version: version.version,
    ...(signal === undefined ? {} : { signal }),
  });
  switch (version.type) {
    case "data":
      return { type: "data", data: (await response.json()) as Json };
    case "dataset":
      return datasetOf(await response.text());
    case "file":
      return ofBytes(new Uint8Array(await response.arrayBuffer()), version);
  }
}

/** Parses rows from JSON lines. */
function datasetOf(text: string): ArtifactContent {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const rows = lines.slice(0, LOADED_ROWS_MAX).map((line) => JSON.parse(line) as JsonObject);
  return { type: "dataset", rows, cut: lines.length > rows.length };
}

/** A file name that is safe on every file system. */
export function fileName(name: string | undefined, usual: string): string {
  const safe = (name ?? "")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed.
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .replace(/[\\/:*?"<>|]/g, "_")
    .replace(/^[.\s]+|[.\s]+$/g, "")
    .slice(0, 100);
  return safe === "" ? usual : safe;
}
