import { type Clock, SYSTEM_CLOCK } from "./clock.js";
import { Store } from "./store.js";

const TICK_MS = 1_000;

/**
 * The current time in milliseconds since 1970, updated once a second while something runs.
 *
 * All users share one timer. There is none while nothing runs or the page is hidden.
 */
export class LiveClock extends Store<number> {
  private users = 0;
  private paused = false;
  private ticking: AbortController | undefined;

  constructor(private readonly clock: Clock = SYSTEM_CLOCK) {
    super(clock.now());
  }

  /** Updates the time until the returned function is called. */
  run(): () => void {
    this.users++;
    this.update();
    let running = true;
    return () => {
      this.users -= running ? 1 : 0;
      running = false;
      this.update();
    };
  }

  /** Stops the timer until `resume`, for hidden pages. */
  pause(): void {
    this.paused = true;
    this.update();
  }

  /** Continues after `pause`, with the current time. */
  resume(): void {
    this.paused = false;
    this.update();
  }

  private update(): void {
    const wanted = this.users > 0 && !this.paused;
    if (!wanted) {
      this.ticking?.abort();
      this.ticking = undefined;
    } else if (this.ticking === undefined) {
      this.ticking = new AbortController();
      void this.tick(this.ticking.signal);
    }
  }

  private async tick(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.set(this.clock.now());
      await this.clock.sleep(TICK_MS, signal);
    }
  }
}
