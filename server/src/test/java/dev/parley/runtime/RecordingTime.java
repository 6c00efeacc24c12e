package dev.parley.runtime;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/// The time of the machine with the clock of a test, except that it records sleeps and does not
/// wait for them.
public final class RecordingTime extends ClockTime {

  private final List<Duration> sleeps = new CopyOnWriteArrayList<>();

  public RecordingTime(InstantSource clock) {
    super(clock);
  }

  /// All sleeps so far.
  public List<Duration> sleeps() {
    return sleeps;
  }

  @Override
  public void sleep(Duration duration) {
    sleeps.add(duration);
  }
}
