import { type Accepted, type NewMessage, Outbox, type ParleyApi } from "@parley/client";

/** The outboxes of all conversations, which survive navigation. */
export class Outboxes {
  private readonly boxes = new Map<string, Outbox>();
  private begun: string | undefined;

  constructor(private readonly api: ParleyApi) {}

  of(contextId: string): Outbox {
    for (const [id, box] of this.boxes) {
      if (id !== contextId && box.get().length === 0) {
        this.boxes.delete(id);
      }
    }
    const box = this.boxes.get(contextId) ?? new Outbox(this.api, contextId);
    this.boxes.set(contextId, box);
    return box;
  }

  /** Records that a conversation has started: its first message is shown until it is in the log. */
  begin(message: NewMessage, { contextId, messageId }: Accepted): void {
    this.begun = contextId;
    this.of(contextId).addAccepted(message, messageId);
  }

  /** True once for a conversation that has just started here. */
  takeBegun(contextId: string): boolean {
    const begun = this.begun === contextId;
    this.begun = undefined;
    return begun;
  }

  /** Discards the outbox of a deleted conversation. */
  forget(contextId: string): void {
    this.boxes.get(contextId)?.close();
    this.boxes.delete(contextId);
  }

  /** True if a message has not reached the server. */
  get unsent(): boolean {
    return [...this.boxes.values()].some((box) => box.unsent);
  }
}
