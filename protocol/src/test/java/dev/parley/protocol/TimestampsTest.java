package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// EVENT-2: ISO-8601 in UTC.
class TimestampsTest {

  private static final DateTimeFormatter FORMAT =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private static final long FIRST = Instant.parse("0000-01-01T00:00:00Z").getEpochSecond();
  private static final long LAST = Instant.parse("9999-12-31T23:59:59Z").getEpochSecond();

  @Test
  void a_time_is_written_as_the_library_would() {
    var random = new Random(1);
    for (var i = 0; i < 100_000; i++) {
      var instant =
          Instant.ofEpochSecond(random.nextLong(FIRST, LAST), random.nextInt(1_000_000_000));

      assertThat(Timestamps.format(instant)).isEqualTo(FORMAT.format(instant));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1970-01-01T00:00:00.000Z",
        "1969-12-31T23:59:59.999Z",
        "2000-02-29T12:00:00.001Z",
        "2026-11-15T10:30:00.123Z",
        "0000-01-01T00:00:00.000Z",
        "9999-12-31T23:59:59.999Z"
      })
  void a_time_with_milliseconds_is_written_as_it_was_read(String text) {
    assertThat(Timestamps.format(Instant.parse(text))).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -1_000_000_000_000_000L, 300_000_000_000_000L})
  void a_time_beyond_four_digits_of_year_can_still_be_read_again(long millis) {
    var instant = Instant.ofEpochMilli(millis);

    assertThat(Instant.parse(Timestamps.format(instant))).isEqualTo(instant);
  }
}
