import type { ParleyApi } from "./api.js";
import { newKey } from "./http.js";
import { Store } from "./store.js";
import type { Accepted, NewMessage } from "./types.js";

/** Something that was said and is not in the log yet, as far as is known. */
export interface Outgoing {
  /** The same for every attempt: it counts once. */
  readonly key: string;
  readonly message: NewMessage;
  readonly messageId: string | undefined;
  /** Why it did not get there. */
  readonly error: Error | undefined;
}

/**
 * What is said in a context until it has arrived. It may outlive the conversation in which it was
 * said: whoever looks elsewhere meanwhile finds it when they come back.
 */
export class Outbox extends Store<readonly Outgoing[]> {
  constructor(
    private readonly api: ParleyApi,
    readonly contextId: string,
  ) {
    super([]);
  }

  /** True if something in it is known to nobody else. */
  get unsent(): boolean {
    return this.get().some((one) => one.messageId === undefined);
  }

  /** Says something. It stays, with the reason, if it does not get there. */
  send(message: NewMessage): Promise<Accepted | undefined> {
    const outgoing: Outgoing = { key: newKey(), message, messageId: undefined, error: undefined };
    this.set([...this.get(), outgoing]);
    return this.deliver(outgoing);
  }

  /** Tries again to say what did not get there. */
  sendAgain(key: string): Promise<Accepted | undefined> {
    const known = this.get().find((one) => one.key === key);
    if (known === undefined) {
      return Promise.resolve(undefined);
    }
    this.change({ ...known, error: undefined });
    return this.deliver(known);
  }

  /** Gives up what did not get there, and returns its text. */
  discard(key: string): string {
    const known = this.get().find((one) => one.key === key);
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

  private async deliver(outgoing: Outgoing): Promise<Accepted | undefined> {
    try {
      const { key: idempotencyKey, message } = outgoing;
      const accepted = await this.api.send(this.contextId, message, { idempotencyKey });
      this.change({ ...outgoing, messageId: accepted.messageId, error: undefined });
      return accepted;
    } catch (failure) {
      const error = failure instanceof Error ? failure : new Error(String(failure));
      this.change({ ...outgoing, error });
      return undefined;
    }
  }

  private change(outgoing: Outgoing): void {
    this.set(this.get().map((one) => (one.key === outgoing.key ? outgoing : one)));
  }
}
