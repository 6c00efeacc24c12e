package dev.parley.log;

import java.time.InstantSource;

final class MemoryLogForkTest extends ForkContract {

  @Override
  EventLog open() {
    return new MemoryLog(InstantSource.system());
  }
}
