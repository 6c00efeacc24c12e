import { Outbox, type ParleyApi } from "@parley/client";

/** What was said and has not arrived, of all conversations: it stays while one looks elsewhere. */
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

  /** The conversation is gone, and what was said in it with it. */
  forget(contextId: string): void {
    this.boxes.get(contextId)?.close();
    this.boxes.delete(contextId);
  }

  /** True if something is nowhere but here. */
  get unsent(): boolean {
    return [...this.boxes.values()].some((box) => box.unsent);
  }
}
