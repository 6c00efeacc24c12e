import { Outbox, type ParleyApi } from "@parley/client";

/** The outboxes of all conversations, which survive navigation. */
export class Outboxes {
  private readonly boxes = new Map<string, Outbox>();

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
