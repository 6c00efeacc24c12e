package dev.parley.runtime;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/// The time of the machine, except for the clock, which a test sets.
public class ClockTime implements Time {

  private final InstantSource clock;
  private final Time time = new SystemTime(new SystemThreads());

  public ClockTime(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public Instant instant() {
    return clock.instant();
  }

  @Override
  public long nanos() {
    return time.nanos();
  }

  @Override
  public void parkUntil(Object blocker, long deadline) {
    time.parkUntil(blocker, deadline);
  }

  @Override
  public void waitUntil(Object monitor, long deadline) throws InterruptedException {
    time.waitUntil(monitor, deadline);
  }

  @Override
  public Timer schedule(String name, Duration delay, Runnable action) {
    return time.schedule(name, delay, action);
  }
}
