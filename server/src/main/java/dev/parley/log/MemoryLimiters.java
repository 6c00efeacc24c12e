package dev.parley.log;

import dev.parley.log.IdempotencyKeyCache.KeyMemoryLimiter;

/// The limiters of the memory that contexts use.
record MemoryLimiters(WindowMemoryLimiter windows, KeyMemoryLimiter keys) {

  static MemoryLimiters of(LogTuning logTuning) {
    return new MemoryLimiters(
        new WindowMemoryLimiter(logTuning), new KeyMemoryLimiter(logTuning.memory()));
  }
}
