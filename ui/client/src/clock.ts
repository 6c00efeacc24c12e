/** The current time and delays. Tests pass their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits, or returns early when `signal` is aborted. Never throws. */
  sleep(millis: number, signal?: AbortSignal): Promise<void>;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  sleep: (millis, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, millis);
      signal?.addEventListener("abort", done);
    }),
};

/** Limits of the delay between two attempts. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

export const BACKOFF: Backoff = { firstMs: 250, maxMs: 10_000 };

/** Upper limit for a delay that the server asks for. */
const ASKED_MAX_MS = 60_000;

/**
 * The delay after `failures` consecutive failures; `askedMs` is the delay that the server asked
 * for.
 *
 * Half of the delay is random, so that many clients do not reconnect at the same moment.
 */
export function delay(
  backoff: Backoff,
  failures: number,
  askedMs: number | undefined,
  random: () => number,
): number {
  const grown = Math.min(backoff.firstMs * 2 ** Math.max(failures - 1, 0), backoff.maxMs);
  const jittered = Math.round(grown - (random() * grown) / 2);
  return Math.max(jittered, Math.min(askedMs ?? 0, ASKED_MAX_MS));
}
