package dev.parley.mcp;

import java.time.Duration;

/// How patient we are with servers: how long one may take to start, how long after a failure it is tried
/// again (twice as long after every further one, up to `retryMax`), how long it may take to end, how long it
/// must have lived to count as healthy, and how long a list of its tools is good.
public record Pace(
    Duration connect,
    Duration retryFirst,
    Duration retryMax,
    Duration end,
    Duration healthy,
    Duration fresh) {

  /// That of a real server.
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
