import type { AgentMessage } from "./agent-messages.js";

/** One line of an agent's output. */
export interface MessageLine {
  readonly time: string;
  readonly label: string;
  readonly text: string;
  /** The raw JSON of the message. */
  readonly raw: string;
}

/** Formats a message as one line of output; `time` is the time of day in UTC. */
export function lineOf(message: AgentMessage): MessageLine {
  const { content, raw } = message;
  const at = new Date(message.createdAt);
  return {
    time: Number.isNaN(at.getTime()) ? message.createdAt : at.toISOString().slice(11, 19),
    label: `[${message.type}]`,
    text: typeof content === "string" ? content : JSON.stringify(content, null, 2),
    raw: typeof raw === "string" ? raw : JSON.stringify(raw ?? message, null, 2),
  };
}
