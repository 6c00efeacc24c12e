package dev.parley.door;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.locks.LockSupport;

/// When a quiet stream has to say something, and whether its reader is still there. For one thread.
final class Pulse {

  /// How long a refusal takes to come back, or nearly always less.
  private static final Duration REFUSAL = Duration.ofMillis(100);

  private static final Duration FOR_EVER = Duration.ofDays(1);

  private final InstantSource clock;
  private final Duration interval;
  private long quietSince;

  Pulse(Tail.Parts parts) {
    this.clock = parts.clock();
    this.interval = parts.heartbeat();
  }

  /// The time to the next heartbeat. A clock that jumps makes one early or late, no more.
  Duration patience() {
    if (!interval.isPositive()) {
      return FOR_EVER;
    }
    var left = interval.toMillis() - (clock.millis() - quietSince);
    return Duration.ofMillis(Math.clamp(left, 0, interval.toMillis()));
  }

  /// True if it is time for a heartbeat; never, if there are to be none.
  boolean due() {
    return interval.isPositive() && !patience().isPositive();
  }

  /// Something was said.
  void said() {
    quietSince = clock.millis();
  }

  /// Says a heartbeat.
  interface Beat {
    void run() throws IOException;
  }

  /// Finds out whether the reader is still there: a reader who has closed the connection refuses the first
  /// write, which the second then finds out.
  static void probe(Beat beat) throws IOException {
    beat.run();
    // Whoever was nudged out of a monitor's wait has a permit left, with which one would not park.
    var end = System.nanoTime() + REFUSAL.toNanos();
    for (var left = REFUSAL.toNanos(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    beat.run();
  }
}
