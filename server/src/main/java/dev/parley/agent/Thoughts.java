package dev.parley.agent;

import java.util.concurrent.atomic.AtomicInteger;

/// Numbers the thoughts of a task, whoever has them. Safe for use by the task's threads.
final class Thoughts {

  private final AtomicInteger next = new AtomicInteger();

  /// The task has had so many.
  void atLeast(int count) {
    next.accumulateAndGet(count, Math::max);
  }

  int next() {
    return next.getAndIncrement();
  }
}
