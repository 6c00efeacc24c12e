package dev.parley.log;

/// The limiters of the memory that contexts use.
record ContextMemory(WindowMemory windows, KeyMemory keys) {

  static ContextMemory of(Tuning tuning) {
    return new ContextMemory(new WindowMemory(tuning), new KeyMemory(tuning.memory()));
  }
}
