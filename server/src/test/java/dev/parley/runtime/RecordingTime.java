package dev.parley.runtime;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/// The time of the machine with the clock of a test, except that it records sleeps and does not
/// wait for them.
public final class RecordingTime implements Time {

  private final Time time;
  private final List<Duration> sleeps = new CopyOnWriteArrayList<>();

  public RecordingTime(InstantSource clock) {
    this.time = new ClockTime(clock);
  }

  /// All sleeps so far.
  public List<Duration> sleeps() {
    return sleeps;
  }

  @Override
  public void sleep(Duration duration) {
    sleeps.add(duration);
  }

  @Override
  public Instant instant() {
    return time.instant();
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
