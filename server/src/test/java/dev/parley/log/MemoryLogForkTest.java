package dev.parley.log;

final class MemoryLogForkTest extends ForkContract {

  @Override
  EventLog open() {
    return new MemoryLog();
  }
}
