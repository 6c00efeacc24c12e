package dev.parley.bench;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Waits such that a loop runs at a fixed rate.
final class Pace {

  private final long interval;
  private long due = System.nanoTime();

  Pace(int perSecond) {
    interval = TimeUnit.SECONDS.toNanos(1) / perSecond;
  }

  /// Waits until one interval after the last call, or after the start.
  void await() {
    due += interval;
    for (var early = due - System.nanoTime(); early > 0; early = due - System.nanoTime()) {
      LockSupport.parkNanos(early);
    }
  }
}
