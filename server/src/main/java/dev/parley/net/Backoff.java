package dev.parley.net;

import java.net.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/// The delays between attempts: each is twice the one before, from `first` up to `max`.
public record Backoff(Duration first, Duration max) {

  private static final int DOUBLINGS_MAX = 30;
  private static final Pattern NUMBER = Pattern.compile("\\d{1,9}(?:\\.\\d{1,9})?");

  /// The delay after this many failures in a row; none after 0 failures.
  public Duration delay(int failures) {
    if (failures <= 0) {
      return Duration.ZERO;
    }
    var delay = first.multipliedBy(1L << Math.min(failures - 1, DOUBLINGS_MAX));
    return delay.compareTo(max) < 0 ? delay : max;
  }

  /// The delay, of which up to one half is random, so that many clients do not retry at the same
  /// time.
  public Duration delay(int failures, RandomGenerator random) {
    var millis = delay(failures).toMillis();
    return Duration.ofMillis(millis - random.nextLong(millis / 2 + 1));
  }

  /// The delay that a server asks for: `retry-after-ms`, or `retry-after` in seconds or as a date.
  public static Optional<Duration> retryAfter(HttpHeaders headers, InstantSource clock) {
    var millis = headers.firstValue("retry-after-ms").orElse("").strip();
    if (NUMBER.matcher(millis).matches()) {
      return Optional.of(Duration.ofMillis(Math.round(Double.parseDouble(millis))));
    }
    var text = headers.firstValue("retry-after").orElse("").strip();
    if (NUMBER.matcher(text).matches()) {
      return Optional.of(Duration.ofMillis(Math.round(Double.parseDouble(text) * 1000)));
    }
    try {
      var date = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      var wait = Duration.between(clock.instant(), date);
      return Optional.of(wait.isNegative() ? Duration.ZERO : wait);
    } catch (DateTimeException none) {
      return Optional.empty();
    }
  }
}
