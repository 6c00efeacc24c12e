/** Formats a duration: `380 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(millis: number): string {
  if (millis < 999.5) {
    return `${Math.max(0, Math.round(millis))} ms`;
  }
  if (millis < 9_950) {
    return `${(millis / 1_000).toFixed(1)} s`;
  }
  const seconds = Math.round(millis / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) {
    return `${seconds} s`;
  }
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The milliseconds between two times; undefined if one is missing. */
export function between(from: string | undefined, to: string | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : Date.parse(to) - Date.parse(from);
}

/** Formats the age of a time. */
export function ago(timestamp: string, now: number): string {
  const minutes = Math.round((now - Date.parse(timestamp)) / 60_000);
  if (minutes < 1) {
    return "now";
  }
  if (minutes < 60) {
    return `${minutes} min`;
  }
  const hours = Math.round(minutes / 60);
  return hours < 24 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** Formats a number of tokens: `950`, `12.4k`, `3.1M`. */
export function tokens(n: number): string {
  return n < 1_000 ? `${n}` : n < 1e6 ? `${(n / 1e3).toFixed(1)}k` : `${(n / 1e6).toFixed(1)}M`;
}
