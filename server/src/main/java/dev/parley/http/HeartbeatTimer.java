package dev.parley.http;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.locks.LockSupport;

/// Computes when a quiet stream must send a heartbeat, and probes whether its reader is still
/// connected. For one thread.
final class HeartbeatTimer {

  /// How long a closed peer takes to reset the connection, in nearly all cases.
  private static final Duration RESET_DELAY = Duration.ofMillis(100);

  private static final Duration FOR_EVER = Duration.ofDays(1);

  private final InstantSource clock;
  private final Duration interval;
  private long lastWriteMillis;

  HeartbeatTimer(ContextStream.StreamDependencies streamDependencies) {
    this.clock = streamDependencies.clock();
    this.interval = streamDependencies.heartbeat();
  }

  /// The time to the next heartbeat. A clock change makes at most one heartbeat early or late.
  Duration timeToNext() {
    if (!interval.isPositive()) {
      return FOR_EVER;
    }
    var left = interval.toMillis() - (clock.millis() - lastWriteMillis);
    return Duration.ofMillis(Math.clamp(left, 0, interval.toMillis()));
  }

  /// True if a heartbeat is due; always false if heartbeats are off.
  boolean due() {
    return interval.isPositive() && !timeToNext().isPositive();
  }

  /// Call this after each write.
  void reset() {
    lastWriteMillis = clock.millis();
  }

  /// Writes a heartbeat.
  interface HeartbeatWriter {
    void run() throws IOException;
  }

  /// Checks whether the reader is still connected: if it has closed the connection, the first write
  /// causes a reset, and the second write fails.
  static void probe(HeartbeatWriter heartbeatWriter) throws IOException {
    heartbeatWriter.run();
    // A thread that was interrupted in a monitor's wait may have a permit left, and would not park.
    var end = System.nanoTime() + RESET_DELAY.toNanos();
    for (var left = RESET_DELAY.toNanos(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    heartbeatWriter.run();
  }
}
