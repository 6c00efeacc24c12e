import type { ConnectionState } from "@parley/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { useNow } from "../app/hooks.js";
import { count, duration } from "../ui/format.js";

const SHOWN_MS = 8_000;
const SLOW_MS = 1_000;
const SECOND_MS = 1_000;

interface ConnectionStatusProps {
  readonly connection: ConnectionState | undefined;
  /** True if the past is shown. */
  readonly past: boolean;
}

/** The state of the connection: unobtrusive while it is live. */
export function ConnectionStatus({ connection, past }: ConnectionStatusProps) {
  const recovered = useRecovered(connection?.recovered ?? 0);
  const status = connection?.status ?? "connecting";
  const waiting = status === "waiting";
  const until = useDeadline(waiting ? connection?.retryInMs : undefined, connection?.failures ?? 0);
  const lag = connection?.lagMs ?? 0;
  const words = waiting
    ? "Reconnecting"
    : status === "live"
      ? past
        ? "Past"
        : recovered > 0
          ? `Live, ${count(recovered, "event")} recovered`
          : lag > SLOW_MS
            ? `Live, ${duration(lag)} behind`
            : "Live"
      : status === "connecting"
        ? "Connecting"
        : status === "paused"
          ? "Paused"
          : "Not connected";
  const more = [
    connection?.reason,
    connection && connection.reconnects > 0 && count(connection.reconnects, "reconnection"),
    connection && `lag ${duration(lag)}`,
    connection &&
      connection.recovered > 0 &&
      `${count(connection.recovered, "event")} recovered in total`,
  ];
  return (
    <span
      class="connection"
      data-status={past && status === "live" ? "past" : status}
      title={more.filter(Boolean).join("; ")}
    >
      <span class="connection-dot" aria-hidden="true" />
      <span class="connection-text">
        {words}
        {waiting && (
          <span class="connection-details">{`, attempt ${connection?.failures ?? 1}${until}`}</span>
        )}
      </span>
      {/* Announced when it changes, without the countdown. */}
      <span class="sr-only" role="status">
        {waiting
          ? "Can’t reach the server"
          : status === "live" && past
            ? "You are viewing the past"
            : ""}
      </span>
    </span>
  );
}

/** The number of events recovered by the last reconnection, for a while. */
function useRecovered(all: number): number {
  const [shown, setShown] = useState(0);
  const seen = useRef(0);
  useEffect(() => {
    if (all === 0) {
      seen.current = 0;
      setShown(0);
      return undefined;
    }
    setShown(all - seen.current);
    const timer = setTimeout(() => {
      seen.current = all;
      setShown(0);
    }, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [all]);
  return shown;
}

function useDeadline(inMs: number | undefined, failures: number): string {
  const at = useRef(0);
  useEffect(() => {
    at.current = Date.now() + (inMs ?? 0);
  }, [inMs, failures]);
  const now = useNow(SECOND_MS, inMs !== undefined);
  const left = Math.round((at.current - now) / SECOND_MS);
  return inMs !== undefined && left > 0 ? `, retrying in ${left} s` : "";
}
