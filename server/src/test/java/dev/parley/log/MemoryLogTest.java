package dev.parley.log;

final class MemoryLogTest extends EventLogContract {

  @Override
  EventLog open() {
    return new MemoryLog();
  }
}
