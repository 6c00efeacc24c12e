package dev.parley.mcp;

import java.time.Duration;

/// Timeouts for servers: the time to start, the delay before a retry (doubled after each further
/// failure, up to `retryMax`), the time to end, the time after which a connection is healthy, and
/// the maximum age of a tool list.
public record McpTimeouts(
    Duration connect,
    Duration retryFirst,
    Duration retryMax,
    Duration shutdown,
    Duration healthyAfter,
    Duration toolListMaxAge) {

  /// The default values.
  public static final McpTimeouts DEFAULT =
      new McpTimeouts(
          Duration.ofSeconds(30),
          Duration.ofMillis(500),
          Duration.ofMinutes(1),
          Duration.ofSeconds(2),
          Duration.ofSeconds(10),
          Duration.ofMinutes(1));

  Duration retryDelay(int failures) {
    if (failures == 0) {
      return Duration.ZERO;
    }
    var pause = retryFirst.multipliedBy(1L << Math.min(failures - 1, 20));
    return pause.compareTo(retryMax) < 0 ? pause : retryMax;
  }
}
