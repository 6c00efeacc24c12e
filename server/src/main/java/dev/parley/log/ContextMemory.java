package dev.parley.log;

/// What bounds the memory that contexts take.
record ContextMemory(WindowMemory windows, KeyMemory keys) {

  static ContextMemory of(Tuning tuning) {
    return new ContextMemory(new WindowMemory(tuning), new KeyMemory(tuning.memory()));
  }
}
