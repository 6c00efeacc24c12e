import type { ParleyApi } from "./api.js";
import { ParleyError } from "./errors.js";
import type { Json } from "./events.js";
import { newKey } from "./http.js";
import { LiveContext, type LiveOptions, type LiveState } from "./live-context.js";
import { Outbox, type Outgoing } from "./outbox.js";
import type { ContextState } from "./state.js";
import { Store } from "./store.js";
import type { ContextInfo, NewMessage } from "./types.js";

/** A conversation as a person who takes part in it sees it. */
export interface ConversationState extends LiveState {
  /** The context with what this person has just done, which the server may yet refuse. */
  readonly shown: ContextState | undefined;
  readonly outgoing: readonly Outgoing[];
  /** What was refused last, for people. */
  readonly refused: string | undefined;
}

export interface ConversationOptions extends LiveOptions {
  /** What was said here and has not arrived, from an earlier visit; none, if it is missing. */
  readonly outbox?: Outbox;
}

/** Going back that the server has not confirmed: shown at once, undone if it is refused. */
interface Pretence {
  readonly toSeq: number;
  /** The log is at least here when it is done; until that is known, nothing is. */
  readonly doneAt: number | undefined;
}

/** A conversation, and all that a person can do in it. */
export class Conversation extends Store<ConversationState> {
  readonly live: LiveContext;
  private readonly stop: () => void;
  readonly outbox: Outbox;
  private pretence: Pretence | undefined;
  /** What is being gone back, until that is known to be so or not. */
  private going: Promise<boolean> | undefined;
  private refused: string | undefined;

  constructor(
    private readonly api: ParleyApi,
    readonly contextId: string,
    { outbox, ...options }: ConversationOptions = {},
  ) {
    const live = new LiveContext(api, contextId, { from: "recent", ...options });
    const box = outbox ?? new Outbox(api, contextId, options.clock);
    super({ ...live.get(), shown: undefined, outgoing: box.get(), refused: undefined });
    this.live = live;
    this.outbox = box;
    const update = (): void => this.update();
    const stops = [live.subscribe(update), box.subscribe(update)];
    if (outbox === undefined) {
      // Nobody else has it.
      stops.push(() => box.close());
    }
    this.stop = () => stops.forEach((stop) => stop());
  }

  close(): void {
    this.stop();
    this.live.close();
  }

  /** Says something, which is shown at once. Answers whether it got there; if not it stays. */
  send(message: NewMessage): Promise<boolean> {
    // What is said in what is shown is not to get there before it is so, nor if it will not be.
    return this.outbox.send(message, this.going);
  }

  /** Tries again to say what did not get there. */
  sendAgain(key: string): Promise<boolean> {
    return this.outbox.sendAgain(key);
  }

  /** Gives up what did not get there, and returns its text; nothing if it may be there by now. */
  discard(key: string): string | undefined {
    return this.outbox.discard(key);
  }

  /** Stops a task and all below it. */
  cancel(taskId: string): Promise<boolean> {
    return this.attempt("The wish to stop", () => this.api.cancelTask(this.contextId, taskId));
  }

  cancelTool(taskId: string, toolCallId: string): Promise<boolean> {
    return this.attempt("The wish to stop", () =>
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
    return this.attempt("What was entered", () =>
      this.api.signIn(this.contextId, authId, { credential }, { idempotencyKey }),
    );
  }

  /** Goes on without a sign-in: the task is told that the person skipped it. */
  skipSignIn(authId: string): Promise<boolean> {
    const idempotencyKey = newKey();
    return this.attempt("What was decided", () =>
      this.api.signIn(this.contextId, authId, { skipped: true }, { idempotencyKey }),
    );
  }

  rename(title: string): Promise<boolean> {
    return this.attempt("The title", () => this.api.updateContext(this.contextId, { title }));
  }

  /** Goes back to before a message: shown at once, and undone if the server refuses. */
  rewind(before: { messageId: string; seq: number }): Promise<boolean> {
    return this.goBack(before.seq - 1, () =>
      this.api.rewind(this.contextId, { beforeMessageId: before.messageId }),
    );
  }

  /** Goes back to an event, also one that was left behind. */
  rewindTo(toSeq: number): Promise<boolean> {
    return this.goBack(toSeq, () => this.api.rewind(this.contextId, { toSeq }));
  }

  /** Says something else instead of a message, and of all that came after it. */
  rerun(before: { messageId: string; seq: number }, message: NewMessage): Promise<boolean> {
    const target = { beforeMessageId: before.messageId };
    const idempotencyKey = newKey();
    return this.goBack(before.seq - 1, () =>
      this.api.rewindAndSend(this.contextId, target, message, { idempotencyKey }),
    );
  }

  /**
   * Has a message done once more, in its own place. One that came while another was being worked on
   * has no place to go back to: it is said again.
   */
  retry(before: { messageId: string; seq: number }, message: NewMessage): Promise<boolean> {
    const target = { beforeMessageId: before.messageId };
    const keys = [newKey(), newKey()] as const;
    return this.goBack(before.seq - 1, async () => {
      try {
        const once = { idempotencyKey: keys[0] };
        return await this.api.rewindAndSend(this.contextId, target, message, once);
      } catch (failure) {
        if (!(failure instanceof ParleyError) || failure.code !== "inside-task") {
          throw failure;
        }
        this.pretence = undefined;
        this.update();
        return await this.api.send(this.contextId, message, { idempotencyKey: keys[1] });
      }
    });
  }

  /** Makes a context that shares the past of this one up to `atSeq`. */
  async fork(atSeq: number | undefined, title: string): Promise<ContextInfo | undefined> {
    let fork: ContextInfo | undefined;
    const idempotencyKey = newKey();
    const at = atSeq === undefined ? {} : { atSeq };
    await this.attempt("The wish to fork", async () => {
      fork = await this.api.fork(this.contextId, { ...at, title }, { idempotencyKey });
    });
    return fork;
  }

  /** Takes note that the person has read what was refused. */
  dismiss(): void {
    this.refused = undefined;
    this.update();
  }

  private async goBack(toSeq: number, call: () => Promise<{ seq: number }>): Promise<boolean> {
    const pretence: Pretence = { toSeq, doneAt: undefined };
    this.pretence = pretence;
    this.update();
    const done = this.attempt(
      "The wish to go back",
      async () => {
        const { seq } = await call();
        this.pretence = this.pretence === pretence ? { toSeq, doneAt: seq } : this.pretence;
      },
      () => {
        this.pretence = this.pretence === pretence ? undefined : this.pretence;
      },
    );
    this.going = done;
    try {
      return await done;
    } finally {
      this.going = this.going === done ? undefined : this.going;
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
        this.outbox.arrived(new Set(context.messages.map((one) => one.messageId)));
      }
      if (this.pretence?.doneAt !== undefined && context.seq >= this.pretence.doneAt) {
        this.pretence = undefined;
      }
    }
    const shown = context && pretend(context, this.pretence);
    const back = isLive(live) && !isLive(this.get());
    this.set({ ...live, shown, outgoing: this.outbox.get(), refused: this.refused });
    if (back) {
      this.outbox.hurry();
    }
  }
}

/** Why something was not done, for people. */
function refusal(what: string, failure: unknown): string {
  if (!(failure instanceof ParleyError)) {
    return String(failure);
  }
  return failure.status === 0
    ? `${what} did not get there: the server does not answer. Try again when it is back.`
    : failure.message;
}

function isLive({ connection }: LiveState): boolean {
  return connection?.status === "live";
}

/** The context as it will be when it has gone back. */
function pretend(context: ContextState, pretence: Pretence | undefined): ContextState {
  if (pretence === undefined) {
    return context;
  }
  const seq = context.seq + 1;
  return { ...context, seq, rewinds: [...context.rewinds, { seq, toSeq: pretence.toSeq }] };
}
