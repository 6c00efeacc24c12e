import type { ParleyApi } from "./api.js";
import { ParleyError } from "./errors.js";
import type { Json } from "./events.js";
import { newKey } from "./http.js";
import { LiveContext, type LiveOptions, type LiveState } from "./live-context.js";
import { Outbox, type Outgoing } from "./outbox.js";
import type { ContextState } from "./state.js";
import { Store } from "./store.js";
import type { ContextInfo, NewMessage } from "./types.js";

/** The state of a conversation as its user sees it. */
export interface ConversationState extends LiveState {
  /** The context including the user's last action, which the server may still reject. */
  readonly shown: ContextState | undefined;
  readonly outgoing: readonly Outgoing[];
  /** The message of the last rejection. */
  readonly refused: string | undefined;
}

export interface ConversationOptions extends LiveOptions {
  /** Unsent messages of an earlier visit; by default none. */
  readonly outbox?: Outbox;
}

/** A rewind that the server has not confirmed: shown immediately, and undone if it is rejected. */
interface PendingRewind {
  readonly toSeq: number;
  /** The position of the log once the rewind is done; undefined until the server responds. */
  readonly doneAt: number | undefined;
}

/** A conversation, with the actions of its user. */
export class Conversation extends Store<ConversationState> {
  readonly live: LiveContext;
  private readonly stop: () => void;
  readonly outbox: Outbox;
  private pendingRewind: PendingRewind | undefined;
  /** The rewind in progress, if any. */
  private rewinding: Promise<boolean> | undefined;
  private refused: string | undefined;

  constructor(
    private readonly api: ParleyApi,
    readonly contextId: string,
    { outbox, ...options }: ConversationOptions = {},
  ) {
    const live = new LiveContext(api, contextId, { from: "recent", ...options });
    const box = outbox ?? new Outbox(api, contextId, options.clock);
    super({ ...live.get(), shown: live.get().context, outgoing: box.get(), refused: undefined });
    this.live = live;
    this.outbox = box;
    const update = (): void => this.update();
    const stops = [live.subscribe(update), box.subscribe(update)];
    if (outbox === undefined) {
      // This outbox is not shared.
      stops.push(() => box.close());
    }
    this.stop = () => {
      for (const stop of stops) {
        stop();
      }
    };
  }

  close(): void {
    this.stop();
    this.live.close();
  }

  /**
   * Sends a message, which is shown immediately. Resolves to false if it could not be sent; it then
   * stays in the outbox.
   */
  send(message: NewMessage): Promise<boolean> {
    // A message that follows a rewind is sent only after the rewind has succeeded.
    return this.outbox.send(message, this.rewinding);
  }

  /** Sends a failed message again. */
  sendAgain(key: string): Promise<boolean> {
    return this.outbox.sendAgain(key);
  }

  /** Sends a failed message with other options. */
  sendChanged(key: string, change: Partial<NewMessage>): Promise<boolean> {
    return this.outbox.sendChanged(key, change);
  }

  /** Removes an unsent message and returns its text; undefined if it may already have arrived. */
  discard(key: string): string | undefined {
    return this.outbox.discard(key);
  }

  /** Stops a task and its descendants. */
  cancel(taskId: string): Promise<boolean> {
    return this.attempt("The stop request", () => this.api.cancelTask(this.contextId, taskId));
  }

  cancelTool(taskId: string, toolCallId: string): Promise<boolean> {
    return this.attempt("The stop request", () =>
      this.api.cancelTool(this.contextId, taskId, toolCallId),
    );
  }

  answer(inputId: string, value: Json): Promise<boolean> {
    const idempotencyKey = newKey();
    return this.attempt("The answer", () =>
      this.api.answer(this.contextId, inputId, value, { idempotencyKey }),
    );
  }

  signIn(authId: string, credential: string): Promise<boolean> {
    const idempotencyKey = newKey();
    return this.attempt("The credential", () =>
      this.api.signIn(this.contextId, authId, { credential }, { idempotencyKey }),
    );
  }

  /** Skips a sign-in; the server reports this to the task. */
  skipSignIn(authId: string): Promise<boolean> {
    const idempotencyKey = newKey();
    return this.attempt("The request to skip the sign-in", () =>
      this.api.signIn(this.contextId, authId, { skipped: true }, { idempotencyKey }),
    );
  }

  rename(title: string): Promise<boolean> {
    return this.attempt("The title", () => this.api.updateContext(this.contextId, { title }));
  }

  /** Rewinds to before a message: shown immediately, and undone if the server rejects it. */
  rewind(before: { messageId: string; seq: number }): Promise<boolean> {
    return this.rewindAnd(before.seq - 1, () =>
      this.api.rewind(this.contextId, { beforeMessageId: before.messageId }),
    );
  }

  /** Rewinds to an event, including events that an earlier rewind removed. */
  rewindTo(toSeq: number): Promise<boolean> {
    return this.rewindAnd(toSeq, () => this.api.rewind(this.contextId, { toSeq }));
  }

  /** Replaces a message and everything after it. */
  rerun(before: { messageId: string; seq: number }, message: NewMessage): Promise<boolean> {
    const target = { beforeMessageId: before.messageId };
    const idempotencyKey = newKey();
    return this.rewindAnd(before.seq - 1, () =>
      this.api.rewindAndSend(this.contextId, target, message, { idempotencyKey }),
    );
  }

  /**
   * Runs a message again in its place. A message that was sent while another task was working
   * cannot be rewound to; it is sent again at the end.
   */
  retry(before: { messageId: string; seq: number }, message: NewMessage): Promise<boolean> {
    const target = { beforeMessageId: before.messageId };
    const keys = [newKey(), newKey()] as const;
    return this.rewindAnd(before.seq - 1, async () => {
      try {
        const once = { idempotencyKey: keys[0] };
        return await this.api.rewindAndSend(this.contextId, target, message, once);
      } catch (failure) {
        if (!(failure instanceof ParleyError) || failure.code !== "inside-task") {
          throw failure;
        }
        this.pendingRewind = undefined;
        this.update();
        return await this.api.send(this.contextId, message, { idempotencyKey: keys[1] });
      }
    });
  }

  /** Creates a fork that shares the events up to `atSeq`. */
  async fork(atSeq: number | undefined, title: string): Promise<ContextInfo | undefined> {
    let fork: ContextInfo | undefined;
    const idempotencyKey = newKey();
    const at = atSeq === undefined ? {} : { atSeq };
    await this.attempt("The fork request", async () => {
      fork = await this.api.fork(this.contextId, { ...at, title }, { idempotencyKey });
    });
    return fork;
  }

  /** Clears the last rejection. */
  dismiss(): void {
    this.refused = undefined;
    this.update();
  }

  private async rewindAnd(toSeq: number, call: () => Promise<{ seq: number }>): Promise<boolean> {
    const pendingRewind: PendingRewind = { toSeq, doneAt: undefined };
    this.pendingRewind = pendingRewind;
    this.update();
    const done = this.attempt(
      "The rewind request",
      async () => {
        const { seq } = await call();
        this.pendingRewind =
          this.pendingRewind === pendingRewind ? { toSeq, doneAt: seq } : this.pendingRewind;
      },
      () => {
        this.pendingRewind = this.pendingRewind === pendingRewind ? undefined : this.pendingRewind;
      },
    );
    this.rewinding = done;
    try {
      return await done;
    } finally {
      this.rewinding = this.rewinding === done ? undefined : this.rewinding;
    }
  }

  private async attempt(
    what: string,
    call: () => Promise<unknown>,
    undo = (): void => undefined,
  ): Promise<boolean> {
    try {
      await call();
      this.refused = undefined;
      return true;
    } catch (failure) {
      undo();
      this.refused = refusal(what, failure);
      return false;
    } finally {
      this.update();
    }
  }

  private update(): void {
    const live = this.live.get();
    const { context } = live;
    if (context !== undefined) {
      if (this.outbox.get().length > 0) {
        this.outbox.removeDelivered(new Set(context.messages.map((one) => one.messageId)));
      }
      if (this.pendingRewind?.doneAt !== undefined && context.seq >= this.pendingRewind.doneAt) {
        this.pendingRewind = undefined;
      }
    }
    const shown = context && withPendingRewind(context, this.pendingRewind);
    const back = isLive(live) && !isLive(this.get());
    this.set({ ...live, shown, outgoing: this.outbox.get(), refused: this.refused });
    if (back) {
      this.outbox.retryNow();
    }
  }
}

/** The error message for a failed action. */
function refusal(what: string, failure: unknown): string {
  if (!(failure instanceof ParleyError)) {
    return String(failure);
  }
  return failure.status === 0
    ? `${what} was not delivered: the server does not respond. Try again when it is back.`
    : failure.message;
}

function isLive({ connection }: LiveState): boolean {
  return connection?.status === "live";
}

/** The context as it will be after the pending rewind. */
function withPendingRewind(
  context: ContextState,
  pendingRewind: PendingRewind | undefined,
): ContextState {
  if (pendingRewind === undefined) {
    return context;
  }
  const seq = context.seq + 1;
  return { ...context, seq, rewinds: [...context.rewinds, { seq, toSeq: pendingRewind.toSeq }] };
}
