package dev.parley.mcp;

import java.time.Duration;

/// Timeouts for servers: the time to start, the delay before a retry (doubled after each further
/// failure, up to `retryMax`), the time to end, the time after which a connection is healthy, and
/// the maximum age of a tool list.
public record Pace(
    Duration connect,
    Duration retryFirst,
    Duration retryMax,
    Duration end,
    Duration healthy,
    Duration fresh) {

  /// The default values.
  public static final Pace USUAL =
      new Pace(
          Duration.ofSeconds(30),
          Duration.ofMillis(500),
          Duration.ofMinutes(1),
          Duration.ofSeconds(2),
          Duration.ofSeconds(10),
          Duration.ofMinutes(1));

  Duration pause(int failures) {
    if (failures == 0) {
      return Duration.ZERO;
    }
    var pause = retryFirst.multipliedBy(1L << Math.min(failures - 1, 20));
    return pause.compareTo(retryMax) < 0 ? pause : retryMax;
  }
}
