package dev.parley.log;

import java.util.concurrent.atomic.AtomicInteger;

/// Counts and limits the idempotency keys of all contexts that are in memory. For any thread.
final class KeyMemoryLimiter {

  private final MemoryLimits limits;
  private final AtomicInteger kept = new AtomicInteger();

  KeyMemoryLimiter(MemoryLimits limits) {
    this.limits = limits;
  }

  int kept() {
    return kept.get();
  }

  void addKeys(int change) {
    kept.addAndGet(change);
  }

  /// Maximum number of keys of one context.
  int contextMax() {
    return limits.contextKeys();
  }

  /// True if there are too many keys.
  boolean full() {
    return kept.get() > limits.keys();
  }

  /// True if unused contexts should keep no keys.
  boolean scarce() {
    return kept.get() > limits.keys() / 2;
  }
}
