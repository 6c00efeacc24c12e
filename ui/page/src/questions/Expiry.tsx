import { useLiveTime } from "../app/hooks.js";
import { duration } from "../ui/format.js";

const SOON_MS = 3_600_000;

/** The time left to answer: a duration if it is short, or else a date. */
export function Expiry({ at }: { at: string | undefined }) {
  const now = useLiveTime(at !== undefined);
  const left = at === undefined ? Infinity : Date.parse(at) - now;
  if (at === undefined) {
    return null;
  }
  const soon = left < SOON_MS;
  const words = left <= 0 ? "expired" : soon ? `${duration(left)} left` : `expires ${day(at)}`;
  return (
    <time
      class="expiry"
      data-soon={soon || undefined}
      dateTime={at}
      title={new Date(at).toLocaleString()}
    >
      {words}
    </time>
  );
}

function day(at: string): string {
  const date = new Date(at);
  return date.toLocaleString(undefined, {
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
}
