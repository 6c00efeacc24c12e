package dev.parley.agent;

import java.util.concurrent.atomic.AtomicInteger;

/// Numbers the thoughts of a task, across its threads. Thread-safe.
public final class ThoughtCounter {

  private final AtomicInteger next = new AtomicInteger();

  /// The task has at least this many thoughts.
  public void atLeast(int count) {
    next.accumulateAndGet(count, Math::max);
  }

  public int next() {
    return next.getAndIncrement();
  }
}
