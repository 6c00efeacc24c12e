/** Time, and waiting for it: passed in, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits so long, or until `signal` is aborted. Never throws. */
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

/** How long to wait before trying again. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

export const BACKOFF: Backoff = { firstMs: 250, maxMs: 10_000 };

/** However long a server asks us to wait, we ask again after this. */
const ASKED_MAX_MS = 60_000;

/**
 * How long to wait after `failures` in a row; `askedMs` is what the server asked for.
 *
 * Half of the wait is random, so that a crowd of clients does not come back in step.
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
