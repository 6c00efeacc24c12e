const EVERY_MS = 400;
const PATIENCE_MS = 2_000;

export interface Probe {
  /** True while it is worth while to ask. */
  readonly wanted: () => boolean;
  /** Asks whether the server is there. */
  readonly ask: (signal: AbortSignal) => Promise<unknown>;
  /** It is. */
  readonly found: () => void;
}

/** Asks now and then whether a server is back, one question at a time, until it is told to stop. */
export function probing({ wanted, ask, found }: Probe): () => void {
  let asking: AbortController | undefined;
  const timer = setInterval(() => {
    if (asking !== undefined || !wanted()) {
      return;
    }
    const question = (asking = new AbortController());
    const patience = setTimeout(() => over(), PATIENCE_MS);
    const over = (): void => {
      clearTimeout(patience);
      question.abort();
      if (asking === question) {
        asking = undefined;
      }
    };
    ask(question.signal).then(() => {
      const late = question.signal.aborted;
      over();
      if (!late && wanted()) {
        found();
      }
    }, over);
  }, EVERY_MS);
  return () => {
    clearInterval(timer);
    asking?.abort();
  };
}
