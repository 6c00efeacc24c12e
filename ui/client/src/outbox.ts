import type { ParleyApi } from "./api.js";
import { type Backoff, type Clock, delay, SYSTEM_CLOCK } from "./clock.js";
import { ParleyError } from "./errors.js";
import { newKey } from "./http.js";
import { Store } from "./store.js";
import type { NewMessage } from "./types.js";

const PATIENT: Backoff = { firstMs: 1_000, maxMs: 30_000 };
/** A request that is not answered by then is taken for lost; it is made again with the same key. */
const ANSWER_MS = 20_000;
/** A server that fails so often at the same message is not asked again, lest all others wait. */
const FAULTS_MAX = 5;
const OVERLOADED = 503;

/** Something that was said and is not in the log yet, as far as is known. */
export interface Outgoing {
  /** The same for every attempt: it counts once. */
  readonly key: string;
  readonly message: NewMessage;
  readonly messageId: string | undefined;
  /** Why it did not get there. */
  readonly error: Error | undefined;
  /** True if it is tried again by itself: no server took it, but one may later. */
  readonly waiting: boolean;
  /** True while a request is under way: then nobody knows whether it got there. */
  readonly sending: boolean;
}

/**
 * What is said in a context until it has arrived, in the order in which it was said. It may outlive
 * the conversation in which it was said: whoever looks elsewhere meanwhile finds it when they come
 * back. What no server took is tried again until one does.
 */
export class Outbox extends Store<readonly Outgoing[]> {
  private work: Promise<void> | undefined;
  private nap: AbortController | undefined;
  /** True if there is reason to try once more, whatever comes of what is under way. */
  private urged = false;
  private closed = false;
  private failures = 0;
  /** What has to succeed before something is said, by its key. */
  private readonly conditions = new Map<string, Promise<boolean>>();
  /** How often a server failed at something, by its key. */
  private readonly faults = new Map<string, number>();
  private readonly sent = new Set<string>();

  constructor(
    private readonly api: ParleyApi,
    readonly contextId: string,
    private readonly clock: Clock = SYSTEM_CLOCK,
  ) {
    super([]);
  }

  /** True if something in it is known to nobody else. */
  get unsent(): boolean {
    return this.get().some((one) => one.messageId === undefined);
  }

  /**
   * Says something, after what was said before, and only if `first`, where there is one, succeeds.
   * Answers whether it got there; if not it stays, with the reason.
   */
  send(message: NewMessage, first?: Promise<boolean>): Promise<boolean> {
    const key = newKey();
    if (first !== undefined) {
      this.conditions.set(key, first);
    }
    const idle = { messageId: undefined, error: undefined, waiting: false, sending: false };
    this.set([...this.get(), { key, message, ...idle }]);
    this.urged = true;
    return this.deliver(key);
  }

  /** Tries again to say what did not get there. */
  sendAgain(key: string): Promise<boolean> {
    this.faults.delete(key);
    this.change(key, { error: undefined, waiting: false });
    this.urged = true;
    return this.deliver(key);
  }

  /** Tries now what waits: there is reason to think that a server is there. */
  hurry(): void {
    if (this.nap !== undefined || this.work !== undefined) {
      this.urged = true;
      void this.deliver("");
    }
  }

  /** Gives up what did not get there, and returns its text; nothing if it may be there by now. */
  discard(key: string): string | undefined {
    const known = this.get().find((one) => one.key === key);
    if (known === undefined || known.sending) {
      return undefined;
    }
    this.set(this.get().filter((one) => one.key !== key));
    return known.message.content ?? "";
  }

  /** Lets go of what is in the log. */
  arrived(messageIds: ReadonlySet<string>): void {
    const left = this.get().filter((one) => !messageIds.has(one.messageId ?? ""));
    if (left.length < this.get().length) {
      this.set(left);
    }
  }

  /** Tries nothing again by itself from now on. */
  close(): void {
    this.closed = true;
    this.nap?.abort();
  }

  private async deliver(key: string): Promise<boolean> {
    this.nap?.abort();
    this.work ??= this.deliverAll();
    await this.work;
    return this.sent.has(key);
  }

  /** One after the other: requests that are under way together can overtake each other. */
  private async deliverAll(): Promise<void> {
    let failure: ParleyError | undefined;
    do {
      this.urged = false;
      failure = await this.round();
    } while (this.urged);
    // At once, so that whoever comes from now on begins anew.
    this.work = undefined;
    if (failure === undefined) {
      this.failures = 0;
    } else if (!this.closed) {
      this.rest(failure);
    }
  }

  /** Answers why nothing can be sent now, if that is so. */
  private async round(): Promise<ParleyError | undefined> {
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
      if (!(await this.isWanted(key))) {
        throw new Error("not sent, because what was done before it did not succeed");
      }
      const { messageId } = await this.inTime((signal) =>
        this.api.send(this.contextId, message, { idempotencyKey: key, signal }),
      );
      this.sent.add(key);
      this.change(key, { messageId, error: undefined, waiting: false });
      return undefined;
    } catch (failure) {
      if (failure instanceof ParleyError && this.mayPass(key, failure)) {
        return failure;
      }
      const error = failure instanceof Error ? failure : new Error(String(failure));
      this.change(key, { error, waiting: false });
      return undefined;
    } finally {
      this.change(key, { sending: false });
    }
  }

  /** True unless something had to succeed first and did not. */
  private async isWanted(key: string): Promise<boolean> {
    const first = this.conditions.get(key);
    this.conditions.delete(key);
    return first === undefined || this.inTime(() => first).catch(() => false);
  }

  private mayPass(key: string, failure: ParleyError): boolean {
    if (failure.status < 500 || failure.status === OVERLOADED) {
      return failure.passing;
    }
    const faults = (this.faults.get(key) ?? 0) + 1;
    this.faults.set(key, faults);
    return faults < FAULTS_MAX;
  }

  private async inTime<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const done = new AbortController();
    const clock = this.clock.sleep(ANSWER_MS, done.signal).then(() => {
      if (done.signal.aborted) {
        return new Promise<never>(() => undefined);
      }
      late.abort();
      throw ParleyError.unreachable("it took too long");
    });
    try {
      return await Promise.race([call(late.signal), clock]);
    } finally {
      done.abort();
    }
  }

  /** Everything waits for a while, and is tried again then. */
  private rest(failure: ParleyError): void {
    this.failures++;
    const nap = (this.nap = new AbortController());
    const wait = delay(PATIENT, this.failures, failure.retryAfterMs, Math.random);
    void this.clock.sleep(wait, nap.signal).then(() => {
      if (this.nap === nap) {
        this.nap = undefined;
      }
      if (!nap.signal.aborted) {
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
