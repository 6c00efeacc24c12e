/** Measures how late events are, by two clocks that may differ. */
export class Lag {
  private liveSince = 0;
  /** The minimum by which the server's clock is ahead of ours. */
  private ahead = 0;
  /** The shortest apparent delay of a live event: an upper bound for the clock difference. */
  private fastest = Infinity;

  /** Records that the connection is open. */
  opened(now: number): void {
    this.liveSince = now;
  }

  /**
   * The delay of an event compared with the fastest one; undefined if it happened before the
   * connection was opened.
   */
  of(sent: number, now: number): number | undefined {
    const took = now - sent;
    // No event arrives before it was sent: a negative delay means that the server's clock is ahead.
    this.ahead = Math.max(this.ahead, -took);
    if (sent + this.behind() < this.liveSince) {
      return undefined;
    }
    this.fastest = Math.min(this.fastest, took);
    return took - this.behind();
  }

  /** The offset from the server's time to ours, as far as it is known. */
  private behind(): number {
    if (this.ahead > 0) {
      return -this.ahead;
    }
    return this.fastest === Infinity ? 0 : this.fastest;
  }
}
