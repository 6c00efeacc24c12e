import type { AgentMessage } from "./agent-messages.js";
import type { JsonObject } from "../events.js";

/** A message that combines one or more token messages. */
export interface AggregatedMessage extends AgentMessage {
  /** The number of its last message; `sequenceNumber` is that of the first. */
  readonly lastSequenceNumber: number;
  /** The number of messages that it combines. */
  readonly pieces: number;
}

/** Metadata fields that identify the text to which a token belongs. */
const OWNERS = ["taskId", "parent_tool_use_id", "blockId"];

/**
 * Combines each run of tokens into one message. Any other message ends the runs before it and stays
 * unchanged.
 *
 * If tokens of several blocks or sub-agents alternate, each has its own message, at the position of
 * its first token.
 */
export function aggregateTokens(messages: readonly AgentMessage[]): AggregatedMessage[] {
  const result: AggregatedMessage[] = [];
  let runs = new Map<string, number>();
  for (const message of messages) {
    if (!isToken(message)) {
      runs = new Map();
      result.push(single(message));
      continue;
    }
    const key = ownerOf(message);
    const at = runs.get(key);
    const run = at === undefined ? undefined : result[at];
    if (at === undefined || run === undefined) {
      runs.set(key, result.length);
      result.push(single(message));
    } else {
      result[at] = {
        ...run,
        content: `${run.content as string}${message.content}`,
        lastSequenceNumber: message.sequenceNumber,
        pieces: run.pieces + 1,
      };
    }
  }
  return result;
}

function isToken(message: AgentMessage): message is AgentMessage & { content: string } {
  return (
    message.type === "assistant" &&
    message.metadata?.["eventType"] === "content_delta" &&
    typeof message.content === "string"
  );
}

function single(message: AgentMessage): AggregatedMessage {
  return { ...message, lastSequenceNumber: message.sequenceNumber, pieces: 1 };
}

function ownerOf(message: AgentMessage): string {
  const metadata: JsonObject = message.metadata ?? {};
  return JSON.stringify(OWNERS.map((name) => metadata[name] ?? null));
}
