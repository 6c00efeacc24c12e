package dev.parley.model;

import java.net.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Decides how long to wait before a request is retried. For one request.
final class ModelBackoff {

  private static final Duration FIRST = Duration.ofMillis(500);
  private static final Duration MAX = Duration.ofSeconds(16);
  private static final Pattern NUMBER = Pattern.compile("\\d{1,9}(?:\\.\\d{1,9})?");

  private final ModelLimits modelLimits;
  private final ModelSources sources;
  private int attempts;
  private int malformed;
  private Duration left;

  ModelBackoff(ModelLimits modelLimits, ModelSources sources) {
    this.modelLimits = modelLimits;
    this.sources = sources;
    this.left = modelLimits.waitsMax();
  }

  /// Returns how long to wait after this failure, or empty if there is no further attempt.
  ///
  /// Half of the delay is random, so that many clients do not retry at the same time. A delay that
  /// the provider asks for is never shortened: if it exceeds the remaining time, there is no retry.
  /// After an answer that does not match its schema there is one retry, without delay.
  Optional<Duration> delayAfter(ModelFailure failure) {
    attempts++;
    if (failure.malformed()) {
      return malformed++ == 0 && attempts < modelLimits.attemptsMax()
          ? Optional.of(Duration.ZERO)
          : Optional.empty();
    }
    if (!failure.retryNow() || attempts >= modelLimits.attemptsMax()) {
      return Optional.empty();
    }
    var grown = Math.min(FIRST.toMillis() << (attempts - 1), MAX.toMillis());
    var wait = Duration.ofMillis(grown - sources.random().nextLong(grown / 2 + 1));
    var asked = failure.retryAfter();
    if (asked != null && asked.compareTo(wait) > 0) {
      wait = asked;
    }
    if (wait.compareTo(left) > 0) {
      return Optional.empty();
    }
    left = left.minus(wait);
    return Optional.of(wait);
  }

  /// Returns the number of attempts so far.
  int attempts() {
    return attempts;
  }

  /// Returns whether the provider wants a retry, from the header `x-should-retry`, or null if it is
  /// absent.
  static @Nullable Boolean shouldRetry(HttpHeaders headers) {
    return switch (headers.firstValue("x-should-retry").orElse("").strip()) {
      case "true" -> true;
      case "false" -> false;
      default -> null;
    };
  }

  /// Returns the delay that the provider asks for: `retry-after-ms`, or `retry-after` in seconds or
  /// as a date.
  @Nullable Duration requestedDelay(HttpHeaders headers) {
    var millis = headers.firstValue("retry-after-ms").orElse("").strip();
    if (NUMBER.matcher(millis).matches()) {
      return Duration.ofMillis(Math.round(Double.parseDouble(millis)));
    }
    var text = headers.firstValue("retry-after").orElse("").strip();
    if (NUMBER.matcher(text).matches()) {
      return Duration.ofMillis(Math.round(Double.parseDouble(text) * 1000));
    }
    try {
      var date = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      var wait = Duration.between(sources.clock().instant(), date);
      return wait.isNegative() ? Duration.ZERO : wait;
    } catch (DateTimeException none) {
      return null;
    }
  }
}
