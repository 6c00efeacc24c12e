import type { ParleyApi } from "./api.js";
import { type ParsedPosition, formatPosition, positionOf } from "./position.js";
import type { ParleyEvent } from "./events.js";
import { Store } from "./store.js";

/** The event whose details are shown. */
export interface DetailsState {
  /** Its position; undefined if no event is shown. */
  readonly at: ParsedPosition | undefined;
  /** The event; undefined while it is loading. */
  readonly event: ParleyEvent | undefined;
  /** True if it was selected by its position, for example in the tree of tasks. */
  readonly byPosition: boolean;
  readonly error: Error | undefined;
}

const NOTHING: DetailsState = {
  at: undefined,
  event: undefined,
  byPosition: false,
  error: undefined,
};

/** Shows the details of one event, whether or not the event log lists it. */
export class EventDetails extends Store<DetailsState> {
  private loading = new AbortController();

  constructor(
    private readonly api: ParleyApi,
    private readonly contextId: string,
  ) {
    super(NOTHING);
  }

  close(): void {
    this.loading.abort();
  }

  /** Shows a loaded event, or none. */
  show(event: ParleyEvent | undefined): void {
    this.loading.abort();
    this.set(event === undefined ? NOTHING : { ...NOTHING, at: positionOf(event), event });
  }

  /** Loads the event at a position, also an internal one, and shows it. */
  async load({ seq, k }: ParsedPosition): Promise<void> {
    this.loading.abort();
    this.loading = new AbortController();
    const { signal } = this.loading;
    const wanted: DetailsState = { ...NOTHING, at: { seq, k }, byPosition: true };
    this.set(wanted);
    try {
      const { events } = await this.api.events(this.contextId, {
        after: k === 0 ? seq - 1 : formatPosition({ seq, k: k - 1 }),
        limit: 1,
        filter: { internal: k > 0 },
        signal,
      });
      const event = events.find((one) => one.seq === seq && (one.k ?? 0) === k);
      const error = event === undefined ? new Error("The event does not exist.") : undefined;
      if (!signal.aborted) {
        this.set({ ...wanted, event, error });
      }
    } catch (failure) {
      if (!signal.aborted) {
        const error = failure instanceof Error ? failure : new Error(String(failure));
        this.set({ ...wanted, error });
      }
    }
  }
}
