import type { JsonObject, ToolCall } from "@parley/client";
import { useLiveTime } from "../app/hooks.js";
import { JsonText } from "../text/JsonText.js";
import { between, duration } from "../ui/format.js";
import { Icon } from "../ui/Icon.js";
import { useConversation } from "./conversation-context.js";
import { ToolResultView } from "./ToolResultView.js";

const SUMMARY_MAX = 120;
const SECOND_MS = 1_000;

/** A tool call with its arguments, progress and result. */
export function ToolCallView({ call, taskId }: { call: ToolCall; taskId: string }) {
  const { conversation, asOf } = useConversation();
  const running = call.status === "running";
  const status = call.outcome === "canceled" ? "canceled" : call.status;
  return (
    <div class="call" data-status={status}>
      <details>
        <summary>
          <Status status={status} />
          <span class="call-name">{call.toolName || "tool"}</span>
          {running && call.progress !== undefined ? (
            <Progress call={call} />
          ) : (
            <span class="call-summary">{summaryOf(call.arguments)}</span>
          )}
          <Duration
            running={call.status === "running"}
            startedAt={call.startedAt}
            endedAt={call.endedAt}
          />
        </summary>
        <div class="call-body">
          {running && (
            <button
              type="button"
              class="button small"
              disabled={asOf !== undefined}
              onClick={() => void conversation.cancelTool(taskId, call.toolCallId)}
            >
              <Icon name="stop" /> Stop this call
            </button>
          )}
          <h3>Arguments</h3>
          {call.arguments === undefined ? (
            <p class="muted">The arguments are not loaded.</p>
          ) : (
            <JsonText value={call.arguments} />
          )}
          {!running && <Result call={call} />}
        </div>
      </details>
    </div>
  );
}

/** In the line of the call, so that nothing below it moves. */
function Progress({ call }: { call: ToolCall }) {
  const known = call.progress !== undefined && call.progress > 0;
  return (
    <span class="progress">
      <progress
        aria-label={`${call.toolName} is running`}
        {...(known ? { value: call.progress, max: 1 } : {})}
      />
      {call.progressMessage !== undefined && <span>{call.progressMessage}</span>}
    </span>
  );
}

function Result({ call }: { call: ToolCall }) {
  const stopped = call.outcome === "canceled";
  return (
    <>
      <h3>{call.status === "succeeded" ? "Result" : stopped ? "Stopped" : "Error"}</h3>
      {call.error !== undefined ? (
        <p class={stopped ? "muted lines" : "problem lines"}>{call.error}</p>
      ) : (
        <ToolResultView call={call} />
      )}
    </>
  );
}

/** The status of a call or a task, as an icon with a label. */
export function Status({ status }: { status: string }) {
  const shape =
    status === "succeeded" || status === "completed"
      ? "check"
      : status === "running" || status === "working" || status === "waiting-subtask"
        ? "spin"
        : status === "submitted"
          ? "clock"
          : status.startsWith("waiting")
            ? "ask"
            : status === "canceled"
              ? "stop"
              : "cross";
  const words = status === "canceled" ? "stopped" : status.replace("-", " for ");
  return (
    <span class={`status ${shape}`} role="img" aria-label={words}>
      {shape === "spin" ? <span class="spinner" /> : <Icon name={shape} />}
    </span>
  );
}

interface DurationProps {
  readonly running: boolean;
  readonly startedAt: string | undefined;
  readonly endedAt: string | undefined;
}

/** The duration, so far or in total. */
export function Duration({ running, startedAt, endedAt }: DurationProps) {
  const { asOf } = useConversation();
  const now = useLiveTime(running && asOf === undefined);
  const millis = running
    ? startedAt && (asOf ?? now) - Date.parse(startedAt)
    : between(startedAt, endedAt);
  return typeof millis === "number" ? (
    <span class={running ? "duration elapsed" : "duration"}>
      {running && millis < SECOND_MS ? "" : duration(millis)}
    </span>
  ) : null;
}

/** The most informative argument, in one line. */
export function summaryOf(args: JsonObject | undefined): string {
  const texts = Object.values(args ?? {}).filter((value) => typeof value === "string");
  const text = texts[0] ?? (args && Object.keys(args).length > 0 ? JSON.stringify(args) : "");
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > SUMMARY_MAX ? `${line.slice(0, SUMMARY_MAX)}…` : line;
}
