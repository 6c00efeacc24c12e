package dev.parley.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BackoffTest {

  private static final InstantSource NOW =
      InstantSource.fixed(Instant.parse("2026-01-01T00:00:00Z"));

  private final Backoff backoff = new Backoff(Duration.ofMillis(500), Duration.ofSeconds(16));

  @Test
  void delays_double_up_to_the_maximum() {
    assertThat(IntStream.of(0, 1, 2, 3, 6, 7, 1000).mapToObj(i -> backoff.delay(i).toMillis()))
        .containsExactly(0L, 500L, 1_000L, 2_000L, 16_000L, 16_000L, 16_000L);
  }

  @Test
  void up_to_one_half_of_a_delay_is_random() {
    var random = new Random(1);

    assertThat(IntStream.range(0, 1000).mapToObj(_ -> backoff.delay(2, random).toMillis()))
        .allMatch(millis -> millis >= 500 && millis <= 1_000)
        .anyMatch(millis -> millis < 600)
        .anyMatch(millis -> millis > 900);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "retry-after    | 3                             | 3000",
        "retry-after    | 0.25                          | 250",
        "retry-after-ms | 40                            | 40",
        "retry-after    | Thu, 01 Jan 2026 00:00:09 GMT | 9000",
        "retry-after    | Wed, 31 Dec 2025 00:00:00 GMT | 0"
      })
  void servers_name_a_delay_in_several_ways(String name, String value, long millis) {
    assertThat(Backoff.retryAfter(headers(name, value), NOW)).contains(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @CsvSource({"retry-after,soon", "retry-after,-1", "retry-after-ms,x", "other,1"})
  void other_values_name_no_delay(String name, String value) {
    assertThat(Backoff.retryAfter(headers(name, value), NOW)).isEmpty();
  }

  private static HttpHeaders headers(String name, String value) {
    return HttpHeaders.of(Map.of(name, List.of(value)), (_, _) -> true);
  }
}
