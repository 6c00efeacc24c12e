package dev.parley.log;

import java.time.InstantSource;

final class MemoryLogTest extends EventLogContract {

  @Override
  EventLog open() {
    return new MemoryLog(InstantSource.system());
  }
}
