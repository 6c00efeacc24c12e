import type { ParleyApi } from "./api.js";
import type { ParleyEvent } from "./events.js";
import type { Position } from "./position.js";
import { corrected, readable, reduceAll } from "./reduce.js";
import { emptyContext } from "./state.js";
import type { ArtifactInfo, ContextInfo, MessageInfo, Page } from "./types.js";

export interface ExportOptions {
  /** The last event to export; by default all events. */
  readonly upTo?: number | undefined;
  readonly signal?: AbortSignal;
}

const PAGE = 1_000;
/** Events that add, change or remove messages. */
const MESSAGE_KINDS = [
  "context-created",
  "context-rewound",
  "message",
  "message-updated",
  "message-deleted",
];
const ARTIFACTS_MAX = 10_000;
const NAME_MAX = 200;
const KIBI = 1_024;

/**
 * Yields a JSON object with the context and its events, in the format of `parley export`, in parts.
 * Leaves out text that was deleted or edited.
 */
export async function* exportJson(
  api: ParleyApi,
  contextId: string,
  { upTo = Infinity, ...options }: ExportOptions = {},
): AsyncGenerator<string, void, undefined> {
  yield `{"context":${JSON.stringify(await api.context(contextId, options))},"events":[`;
  let after: Position = 0;
  let separator = "\n";
  for (let more = true; more; ) {
    const page = await api.events(contextId, { after, limit: PAGE, corrected: true, ...options });
    const events = page.events.filter((event) => event.seq <= upTo);
    if (events.length > 0) {
      yield separator + events.map((event) => JSON.stringify(event)).join(",\n");
      separator = ",\n";
    }
    more = page.hasMore && page.position !== after && events.length === page.events.length;
    after = page.position;
  }
  yield "\n]}\n";
}

/** The conversation as Markdown, in the format of `parley export --format md`. */
export async function exportMarkdown(
  api: ParleyApi,
  contextId: string,
  options: { signal?: AbortSignal } = {},
): Promise<string> {
  const context = await api.context(contextId, options);
  const messages: MessageInfo[] = [];
  for (let more = true; more; ) {
    const after = messages.at(-1)?.seq;
    const page = await api.messages(contextId, {
      ...options,
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    messages.push(...page.items);
    more = page.items.length > 0 && page.nextCursor !== undefined;
  }
  const artifacts: ArtifactInfo[] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const at: { cursor?: string } = cursor === "" ? {} : { cursor };
    const page: Page<ArtifactInfo> = await api.artifacts(contextId, {
      ...options,
      limit: PAGE,
      ...at,
    });
    artifacts.push(...page.items);
    cursor = artifacts.length < ARTIFACTS_MAX ? page.nextCursor : undefined;
  }
  return markdownOf(context, messages, artifacts);
}

/** The messages up to an event, including later edits and deletions. */
export async function messagesAt(
  api: ParleyApi,
  contextId: string,
  upTo: number,
  options: { signal?: AbortSignal } = {},
): Promise<readonly MessageInfo[]> {
  let state = emptyContext(contextId);
  const later: ParleyEvent[] = [];
  let after: Position = 0;
  for (let more = true; more; ) {
    const wanted = { after, limit: PAGE, filter: { kinds: MESSAGE_KINDS }, ...options };
    const page = await api.events(contextId, wanted);
    const events = page.events.filter((event) => event.seq <= upTo);
    state = reduceAll(state, events);
    later.push(...page.events.filter((event) => event.seq > upTo));
    more = page.hasMore && page.position !== after;
    after = page.position;
  }
  return readable(corrected(state, later));
}

/** Formats a conversation as Markdown. */
export function markdownOf(
  context: Pick<ContextInfo, "contextId" | "title" | "createdAt">,
  messages: readonly Pick<MessageInfo, "role" | "agentId" | "content">[],
  artifacts: readonly Pick<ArtifactInfo, "artifactId" | "name" | "type" | "version" | "size">[],
): string {
  const title = context.title === undefined ? `Context ${context.contextId}` : line(context.title);
  const parts = [`# ${title}`, `Context \`${context.contextId}\`, ${context.createdAt}`];
  for (const { role, agentId, content } of messages) {
    parts.push(`## ${role}${agentId === undefined ? "" : ` (${agentId})`}`, clean(content).trim());
  }
  if (artifacts.length > 0) {
    const list = artifacts.map(
      ({ name, type, version, size, artifactId }) =>
        `- ${name === undefined ? "unnamed" : line(name)} (${type}, version ${version}, ${sizeText(size)}, \`${artifactId}\`)`,
    );
    parts.push("## Artifacts", list.join("\n"));
  }
  return `${parts.join("\n\n")}\n`;
}

/** Formats a size in bytes. */
export function sizeText(bytes: number): string {
  if (bytes < KIBI) {
    return `${bytes} B`;
  }
  const unit = bytes < KIBI ** 2 ? 1 : bytes < KIBI ** 3 ? 2 : 3;
  return `${(bytes / KIBI ** unit).toFixed(1)} ${["B", "KB", "MB", "GB"][unit]}`;
}

/** Removes control characters. */
function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed.
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

function line(text: string): string {
  const one = clean(text).replace(/\s+/g, " ").trim();
  return one.length > NAME_MAX ? `${one.slice(0, NAME_MAX)}…` : one;
}
