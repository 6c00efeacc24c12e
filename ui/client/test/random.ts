/** Random numbers that are the same for the same seed (mulberry32). */
export class Random {
  constructor(private state: number) {}

  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** 0 to `limit` - 1. */
  int(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(of: number): boolean {
    return this.next() < of;
  }

  pick<T>(of: readonly T[]): T {
    const found = of[this.int(of.length)];
    if (found === undefined) {
      throw new Error("there is nothing to pick from");
    }
    return found;
  }

  shuffled<T>(of: readonly T[]): T[] {
    const all = [...of];
    for (let i = all.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      [all[i], all[j]] = [all[j] as T, all[i] as T];
    }
    return all;
  }
}

/** 0, 1, 2, … */
export function seeds(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
