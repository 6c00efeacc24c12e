package dev.parley.door.a2a.push;

import java.time.Duration;
import java.time.Instant;

/// How long a webhook that does not answer is left alone, and when it is given up.
///
/// @param first the first pause; each is twice the one before, up to `longest`
/// @param patience how long a webhook may fail without a break
public record Backoff(Duration first, Duration longest, Duration patience) {

  /// From half a second to a minute, for a day.
  public static final Backoff USUAL =
      new Backoff(Duration.ofMillis(500), Duration.ofMinutes(1), Duration.ofDays(1));

  private static final int DOUBLINGS_MAX = 30;

  /// The pause after this many failures in a row, at least one.
  Duration pause(int failures) {
    var factor = 1L << Math.min(failures - 1, DOUBLINGS_MAX);
    var pause = first.multipliedBy(factor);
    return pause.compareTo(longest) > 0 ? longest : pause;
  }

  /// True if a webhook that has failed since then is not to be tried again.
  boolean over(Instant since, Instant now) {
    return since.plus(patience).isBefore(now);
  }
}
