import type { ParleyApi } from "./api.js";
import { type Backoff, type Clock, delay, SYSTEM_CLOCK } from "./clock.js";
import { ParleyError } from "./errors.js";
import { newKey } from "./http.js";
import { Store } from "./store.js";
import type { NewMessage } from "./types.js";

const PATIENT: Backoff = { firstMs: 1_000, maxMs: 30_000 };

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
}

/**
 * What is said in a context until it has arrived, in the order in which it was said. It may outlive
 * the conversation in which it was said: whoever looks elsewhere meanwhile finds it when they come
 * back. What no server took is tried again until one does.
 */
export class Outbox extends Store<readonly Outgoing[]> {
  private work: Promise<void> = Promise.resolve();
  private nap: AbortController | undefined;
  private failures = 0;

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
   * Says something, after what was said before. Answers whether it got there; if not it stays, with
   * the reason.
   */
  send(message: NewMessage): Promise<boolean> {
    const key = newKey();
    const fresh = { key, message, messageId: undefined, error: undefined, waiting: false };
    this.set([...this.get(), fresh]);
    return this.deliver(key);
  }

  /** What is said from now on is said after this. */
  after(work: Promise<unknown>): void {
    this.work = this.work.then(() => work).then(
      () => undefined,
      () => undefined,
    );
  }

  /** Tries again to say what did not get there. */
  sendAgain(key: string): Promise<boolean> {
    this.change(key, { error: undefined, waiting: false });
    return this.deliver(key);
  }

  /** Tries now what waits: there is reason to think that a server is there. */
  hurry(): void {
    if (this.nap !== undefined) {
      void this.deliver("");
    }
  }

  /** Gives up what did not get there, and returns its text. */
  discard(key: string): string {
    const known = this.find(key);
    this.set(this.get().filter((one) => one.key !== key));
    return known?.message.content ?? "";
  }

  /** Lets go of what is in the log. */
  arrived(messageIds: ReadonlySet<string>): void {
    const left = this.get().filter((one) => !messageIds.has(one.messageId ?? ""));
    if (left.length < this.get().length) {
      this.set(left);
    }
  }

  private async deliver(key: string): Promise<boolean> {
    this.nap?.abort();
    // One after the other: requests that are under way together can overtake each other.
    const mine = this.work.then(() => this.deliverAll());
    this.work = mine;
    await mine;
    const known = this.find(key);
    return known === undefined || known.messageId !== undefined;
  }

  private async deliverAll(): Promise<void> {
    const tried = new Set<string>();
    for (let next = this.next(tried); next !== undefined; next = this.next(tried)) {
      tried.add(next.key);
      const failure = await this.attempt(next);
      if (failure !== undefined) {
        this.hold(failure);
        return;
      }
    }
    this.failures = 0;
  }

  /** Answers why nothing can be sent now, if that is so. */
  private async attempt({ key, message }: Outgoing): Promise<ParleyError | undefined> {
    try {
      const { messageId } = await this.api.send(this.contextId, message, { idempotencyKey: key });
      this.change(key, { messageId, error: undefined, waiting: false });
      return undefined;
    } catch (failure) {
      if (failure instanceof ParleyError && failure.passing) {
        return failure;
      }
      const error = failure instanceof Error ? failure : new Error(String(failure));
      this.change(key, { error, waiting: false });
      return undefined;
    }
  }

  /** Everything waits for a while, and is tried again then. */
  private hold(error: ParleyError): void {
    this.set(this.get().map((one) => (isDue(one) ? { ...one, error, waiting: true } : one)));
    this.failures++;
    const nap = (this.nap = new AbortController());
    const wait = delay(PATIENT, this.failures, error.retryAfterMs, Math.random);
    void this.clock.sleep(wait, nap.signal).then(() => {
      if (this.nap === nap) {
        this.nap = undefined;
      }
      if (!nap.signal.aborted) {
        void this.deliver("");
      }
    });
  }

  private next(tried: ReadonlySet<string>): Outgoing | undefined {
    return this.get().find((one) => isDue(one) && !tried.has(one.key));
  }

  private find(key: string): Outgoing | undefined {
    return this.get().find((one) => one.key === key);
  }

  private change(key: string, change: Partial<Outgoing>): void {
    this.set(this.get().map((one) => (one.key === key ? { ...one, ...change } : one)));
  }
}

function isDue({ messageId, error, waiting }: Outgoing): boolean {
  return messageId === undefined && (error === undefined || waiting);
}
