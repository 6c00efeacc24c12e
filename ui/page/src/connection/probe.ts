const EVERY_MS = 400;
const PATIENCE_MS = 2_000;

export interface Probe {
  /** Returns whether to check now. */
  readonly enabled: () => boolean;
  /** Checks whether the server responds. */
  readonly check: (signal: AbortSignal) => Promise<unknown>;
  /** Called when the server responds. */
  readonly onReachable: () => void;
}

/**
 * Checks periodically whether a server is back, one request at a time. Returns a function that
 * stops it.
 */
export function startProbe({ enabled, check, onReachable }: Probe): () => void {
  let asking: AbortController | undefined;
  const timer = setInterval(() => {
    if (asking !== undefined || !enabled()) {
      return;
    }
    const question = new AbortController();
    asking = question;
    const patience = setTimeout(() => over(), PATIENCE_MS);
    const over = (): void => {
      clearTimeout(patience);
      question.abort();
      if (asking === question) {
        asking = undefined;
      }
    };
    check(question.signal).then(() => {
      const late = question.signal.aborted;
      over();
      if (!late && enabled()) {
        onReachable();
      }
    }, over);
  }, EVERY_MS);
  return () => {
    clearInterval(timer);
    asking?.abort();
  };
}
