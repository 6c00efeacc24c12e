package dev.parley.client;

import java.time.Duration;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// How a client tries again: the first wait, the longest one, and when it gives up.
///
/// A request gives up after `attemptsMax`, a stream when it has been cut off for `patience`.
public record Reconnect(Duration first, Duration max, int attemptsMax, Duration patience) {

  /// A quarter of a second at first, ten seconds at most, for five minutes.
  public static final Reconnect DEFAULT =
      new Reconnect(Duration.ofMillis(250), Duration.ofSeconds(10), 4, Duration.ofMinutes(5));

  /// However long a server asks us to wait, we ask again after this.
  private static final Duration ASKED_MAX = Duration.ofMinutes(1);

  private static final int DOUBLINGS_MAX = 20;

  public Reconnect {
    if (first.isNegative() || max.compareTo(first) < 0 || attemptsMax < 1) {
      throw new IllegalArgumentException("waits grow from first to max, and one attempt is made");
    }
  }

  /// The same, but giving up on a stream after `newPatience`.
  public Reconnect withPatience(Duration newPatience) {
    return new Reconnect(first, max, attemptsMax, newPatience);
  }

  /// How long to wait after `failures` in a row; `asked` is what the server asked for.
  ///
  /// Half of the wait is random, so that a crowd of clients does not come back in step.
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
