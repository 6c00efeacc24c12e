package dev.parley.log;

import java.util.concurrent.atomic.AtomicInteger;

/// Counts the idempotency keys of all contexts that are kept in memory. For any thread.
final class KeyMemory {

  private final MemoryLimits limits;
  private final AtomicInteger kept = new AtomicInteger();

  KeyMemory(MemoryLimits limits) {
    this.limits = limits;
  }

  int kept() {
    return kept.get();
  }

  void count(int change) {
    kept.addAndGet(change);
  }

  /// How many keys one context may keep.
  int contextMax() {
    return limits.contextKeys();
  }

  /// True if there are too many.
  boolean full() {
    return kept.get() > limits.keys();
  }

  /// True if contexts that nobody uses should keep none.
  boolean scarce() {
    return kept.get() > limits.keys() / 2;
  }
}
