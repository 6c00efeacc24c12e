package dev.parley.client;

import java.time.Duration;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// How a client retries: the first delay, the longest one, and when it stops.
///
/// A request fails after `attemptsMax` attempts, a stream after `patience` without a connection.
public record Reconnect(Duration first, Duration max, int attemptsMax, Duration patience) {

  /// A quarter of a second at first, ten seconds at most, for five minutes.
  public static final Reconnect DEFAULT =
      new Reconnect(Duration.ofMillis(250), Duration.ofSeconds(10), 4, Duration.ofMinutes(5));

  /// The longest delay that a server can ask for.
  private static final Duration ASKED_MAX = Duration.ofMinutes(1);

  private static final int DOUBLINGS_MAX = 20;

  public Reconnect {
    if (first.isNegative() || max.compareTo(first) < 0 || attemptsMax < 1) {
      throw new IllegalArgumentException("first must be from 0 to max, attemptsMax at least 1");
    }
  }

  /// The same, but a stream fails after `newPatience`.
  public Reconnect withPatience(Duration newPatience) {
    return new Reconnect(first, max, attemptsMax, newPatience);
  }

  /// The delay after `failures` in a row; `asked` is the delay that the server asked for.
  ///
  /// Half of the delay is random, so that many clients do not reconnect at the same time.
  Duration delay(int failures, @Nullable Duration asked, RandomGenerator random) {
    var doublings = Math.min(Math.max(failures - 1, 0), DOUBLINGS_MAX);
    var grown = Math.min(first.toMillis() << doublings, max.toMillis());
    var jittered = Duration.ofMillis(grown - random.nextLong(grown / 2 + 1));
    if (asked == null || asked.compareTo(jittered) <= 0) {
      return jittered;
    }
    return asked.compareTo(ASKED_MAX) > 0 ? ASKED_MAX : asked;
  }
}
