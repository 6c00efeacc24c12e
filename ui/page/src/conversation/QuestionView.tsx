import { type Json, type Question as Asked, visibleText } from "@parley/client";
import { Icon } from "../ui/Icon.js";
import { useConversation } from "./conversation-context.js";

const VALUE_MAX = 300;

/** A question and its answer. Open questions are answered below the conversation. */
export function QuestionView({ question }: { question: Asked }) {
  const { asOf } = useConversation();
  return (
    <div class="question" data-status={question.status}>
      <Icon name={question.kind === "auth" ? "key" : "ask"} />
      <span>{visibleText(wordsOf(question.prompt))}</span>
      <strong>{outcome(question, asOf !== undefined)}</strong>
    </div>
  );
}

/** The server names the agent by its id; here it is known who asks. */
function wordsOf(prompt: string): string {
  const tool = /^May \S+ call (\S+)\?$/.exec(prompt)?.[1];
  return tool === undefined ? prompt : `Approval for ${tool}`;
}

function outcome({ status, kind, value, providedBy }: Asked, past: boolean): string {
  if (status === "open") {
    return past ? "was waiting for you" : "waiting for you";
  }
  if (status === "lapsed") {
    return "no longer needed";
  }
  const by = providedBy === "agent" ? " (by an agent)" : "";
  return kind === "auth" ? "signed in" : `${words(value)}${by}`;
}

function words(value: Json | undefined): string {
  const approved = isObject(value) ? value["approved"] : value;
  if (typeof approved === "boolean") {
    const reason = isObject(value) && typeof value["reason"] === "string" ? value["reason"] : "";
    const edited = isObject(value) && value["arguments"] !== undefined ? ", with changes" : "";
    return (approved ? `approved${edited}` : "denied") + (reason === "" ? "" : `: ${reason}`);
  }
  for (const left of ["skipped", "declined"]) {
    if (isObject(value) && value[left] === true && Object.keys(value).length === 1) {
      return left;
    }
  }
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
