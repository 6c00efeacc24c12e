/** How late events are, by two clocks that may differ. */
export class Lag {
  private liveSince = 0;
  /** How far the server's clock is ahead of ours, at least. */
  private ahead = 0;
  /** The shortest time that a live event seems to have taken: at most that, it is behind. */
  private fastest = Infinity;

  /** A connection is there from now on. */
  opened(now: number): void {
    this.liveSince = now;
  }

  /**
   * How much longer an event was on its way than the fastest; nothing if it happened before the
   * connection was there, and so is late for that reason only.
   */
  of(sent: number, now: number): number | undefined {
    const took = now - sent;
    // No event comes before it was sent: if it seems so, the server's clock is ahead of ours.
    this.ahead = Math.max(this.ahead, -took);
    if (sent + this.behind() < this.liveSince) {
      return undefined;
    }
    this.fastest = Math.min(this.fastest, took);
    return took - this.behind();
  }

  /** What to add to the server's time to have ours, as far as is known. */
  private behind(): number {
    if (this.ahead > 0) {
      return -this.ahead;
    }
    return this.fastest === Infinity ? 0 : this.fastest;
  }
}
