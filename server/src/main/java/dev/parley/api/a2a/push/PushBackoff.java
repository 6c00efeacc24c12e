package dev.parley.api.a2a.push;

import java.time.Duration;
import java.time.Instant;

/// The delays between retries to a webhook, and when retrying stops.
///
/// @param first the first delay; each delay is twice the one before, up to `longest`
/// @param patience how long a webhook may fail before retrying stops
public record PushBackoff(Duration first, Duration longest, Duration patience) {

  /// From half a second to one minute, for one day.
  public static final PushBackoff DEFAULTS =
      new PushBackoff(Duration.ofMillis(500), Duration.ofMinutes(1), Duration.ofDays(1));

  private static final int DOUBLINGS_MAX = 30;

  /// The delay after this many failures in a row (1 or more).
  Duration delay(int failures) {
    var factor = 1L << Math.min(failures - 1, DOUBLINGS_MAX);
    var pause = first.multipliedBy(factor);
    return pause.compareTo(longest) > 0 ? longest : pause;
  }

  /// True if a webhook that fails since `since` is not retried any more.
  boolean expired(Instant since, Instant now) {
    return since.plus(patience).isBefore(now);
  }
}
