import type { ParleyApi } from "./api.js";
import { type Backoff, type Clock, delay, SYSTEM_CLOCK } from "./clock.js";
import { ParleyError } from "./errors.js";
import { newKey } from "./http.js";
import { Store } from "./store.js";
import type { NewMessage } from "./types.js";

const RETRY_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000 };
/** The timeout of a request; it is then repeated with the same key. */
const RESPONSE_TIMEOUT_MS = 20_000;
/**
 * After this many server errors, a message is no longer retried, so that it does not block the
 * others.
 */
const FAULTS_MAX = 5;
const OVERLOADED = 503;

/** A message that is not yet known to be in the log. */
export interface Outgoing {
  /** The idempotency key, the same for every attempt. */
  readonly key: string;
  readonly message: NewMessage;
  readonly messageId: string | undefined;
  /** The error of the last attempt. */
  readonly error: Error | undefined;
  /** True if the message is retried automatically. */
  readonly waiting: boolean;
  /** True while a request is in progress: the message may already have arrived. */
  readonly sending: boolean;
}

/**
 * The messages of a context that have not arrived yet, in their order. An outbox may outlive the
 * conversation view, so unsent messages are still there when the user returns. Messages that no
 * server accepted are retried.
 */
export class Outbox extends Store<readonly Outgoing[]> {
  private work: Promise<void> | undefined;
  private delayAbort: AbortController | undefined;
  /** True if another attempt should follow the current one. */
  private retryRequested = false;
  private closed = false;
  private failures = 0;
  /** The condition of each message, by key. */
  private readonly conditions = new Map<string, Promise<boolean>>();
  /** The number of server errors of each message, by key. */
  private readonly faults = new Map<string, number>();
  private readonly sent = new Set<string>();

  constructor(
    private readonly api: ParleyApi,
    readonly contextId: string,
    private readonly clock: Clock = SYSTEM_CLOCK,
  ) {
    super([]);
  }

  /** True if a message has not reached the server. */
  get unsent(): boolean {
    return this.get().some((one) => one.messageId === undefined);
  }

  /**
   * Sends a message after the earlier ones, and only if `first` resolves to true. Resolves to false
   * if it could not be sent; it then stays with its error.
   */
  send(message: NewMessage, first?: Promise<boolean>): Promise<boolean> {
    const key = newKey();
    if (first !== undefined) {
      this.conditions.set(key, first);
    }
    const idle = { messageId: undefined, error: undefined, waiting: false, sending: false };
    this.set([...this.get(), { key, message, ...idle }]);
    this.retryRequested = true;
    return this.deliver(key);
  }

  /** Adds a message that the server has accepted by another request, until it is in the log. */
  addAccepted(message: NewMessage, messageId: string): void {
    const done = { messageId, error: undefined, waiting: false, sending: false };
    this.set([...this.get(), { key: newKey(), message, ...done }]);
  }

  /** Sends a failed message again. */
  sendAgain(key: string): Promise<boolean> {
    this.faults.delete(key);
    this.change(key, { error: undefined, waiting: false });
    this.retryRequested = true;
    return this.deliver(key);
  }

  /** Sends a failed message with other options, in its place. */
  sendChanged(key: string, change: Partial<NewMessage>): Promise<boolean> {
    // The server knows the old key with the old message.
    const next = newKey();
    this.set(
      this.get().map((one) =>
        one.key === key ? { ...one, key: next, message: { ...one.message, ...change } } : one,
      ),
    );
    return this.sendAgain(next);
  }

  /** Retries waiting messages now, because the server is probably reachable. */
  retryNow(): void {
    if (this.delayAbort !== undefined || this.work !== undefined) {
      this.retryRequested = true;
      void this.deliver("");
    }
  }

  /** Removes an unsent message and returns its text; undefined if it may already have arrived. */
  discard(key: string): string | undefined {
    const known = this.get().find((one) => one.key === key);
    if (known === undefined || known.sending) {
      return undefined;
    }
    this.set(this.get().filter((one) => one.key !== key));
    return known.message.content ?? "";
  }

  /** Removes messages that are in the log. */
  removeDelivered(messageIds: ReadonlySet<string>): void {
    const left = this.get().filter((one) => !messageIds.has(one.messageId ?? ""));
    if (left.length < this.get().length) {
      this.set(left);
    }
  }

  /** Stops automatic retries. */
  close(): void {
    this.closed = true;
    this.delayAbort?.abort();
  }

  private async deliver(key: string): Promise<boolean> {
    this.delayAbort?.abort();
    this.work ??= this.deliverAll();
    await this.work;
    return this.sent.has(key);
  }

  /** One after the other, because parallel requests can overtake each other. */
  private async deliverAll(): Promise<void> {
    let failure: ParleyError | undefined;
    do {
      this.retryRequested = false;
      failure = await this.sendDue();
    } while (this.retryRequested);
    // Before anything else, so that later calls start a new run.
    this.work = undefined;
    if (failure === undefined) {
      this.failures = 0;
    } else if (!this.closed) {
      this.waitToRetry(failure);
    }
  }

  /** Sends due messages; returns the failure if the server is not available. */
  private async sendDue(): Promise<ParleyError | undefined> {
    const tried = new Set<string>();
    const next = (): Outgoing | undefined =>
      this.get().find((one) => isDue(one) && !tried.has(one.key));
    for (let one = next(); one !== undefined; one = next()) {
      tried.add(one.key);
      const failure = await this.attempt(one);
      if (failure !== undefined) {
        this.set(
          this.get().map((due) => (isDue(due) ? { ...due, error: failure, waiting: true } : due)),
        );
        return failure;
      }
    }
    return undefined;
  }

  private async attempt({ key, message }: Outgoing): Promise<ParleyError | undefined> {
    this.change(key, { sending: true });
    try {
      if (!(await this.conditionHolds(key))) {
        throw new Error("not sent, because the rewind before it failed");
      }
      const { messageId } = await this.withTimeout((signal) =>
        this.api.send(this.contextId, message, { idempotencyKey: key, signal }),
      );
      this.sent.add(key);
      this.change(key, { messageId, error: undefined, waiting: false });
      return undefined;
    } catch (failure) {
      if (failure instanceof ParleyError && this.isRetryable(key, failure)) {
        return failure;
      }
      const error = failure instanceof Error ? failure : new Error(String(failure));
      this.change(key, { error, waiting: false });
      return undefined;
    } finally {
      this.change(key, { sending: false });
    }
  }

  /** True unless the condition of the message failed. */
  private async conditionHolds(key: string): Promise<boolean> {
    const first = this.conditions.get(key);
    this.conditions.delete(key);
    return first === undefined || this.withTimeout(() => first).catch(() => false);
  }

  private isRetryable(key: string, failure: ParleyError): boolean {
    if (failure.status < 500 || failure.status === OVERLOADED) {
      return failure.retryable;
    }
    const faults = (this.faults.get(key) ?? 0) + 1;
    this.faults.set(key, faults);
    return faults < FAULTS_MAX;
  }

  private async withTimeout<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const done = new AbortController();
    const clock = this.clock.sleep(RESPONSE_TIMEOUT_MS, done.signal).then(() => {
      if (done.signal.aborted) {
        return new Promise<never>(() => undefined);
      }
      late.abort();
      throw ParleyError.unreachable("the request timed out");
    });
    try {
      return await Promise.race([call(late.signal), clock]);
    } finally {
      done.abort();
    }
  }

  /** Retries all waiting messages after a delay. */
  private waitToRetry(failure: ParleyError): void {
    this.failures++;
    const delayAbort = new AbortController();
    this.delayAbort = delayAbort;
    const wait = delay(RETRY_BACKOFF, this.failures, failure.retryAfterMs, Math.random);
    void this.clock.sleep(wait, delayAbort.signal).then(() => {
      if (this.delayAbort === delayAbort) {
        this.delayAbort = undefined;
      }
      if (!delayAbort.signal.aborted) {
        void this.deliver("");
      }
    });
  }

  private change(key: string, change: Partial<Outgoing>): void {
    this.set(this.get().map((one) => (one.key === key ? { ...one, ...change } : one)));
  }
}

function isDue({ messageId, error, waiting }: Outgoing): boolean {
  return messageId === undefined && (error === undefined || waiting);
}
