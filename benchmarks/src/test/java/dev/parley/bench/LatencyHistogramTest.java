package dev.parley.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class LatencyHistogramTest {

  private final LatencyHistogram latencyHistogram = new LatencyHistogram();

  @Test
  void a_share_of_times_is_found_within_three_percent() {
    for (var micros = 1; micros <= 100_000; micros++) {
      latencyHistogram.add(micros * 1_000L);
    }

    assertThat(latencyHistogram.count()).isEqualTo(100_000);
    assertThat(latencyHistogram.millis(0.5)).isCloseTo(50, within(50 * 0.035));
    assertThat(latencyHistogram.millis(0.99)).isCloseTo(99, within(99 * 0.035));
  }

  @Test
  void the_shortest_and_the_longest_times_have_a_place() {
    latencyHistogram.add(0);
    latencyHistogram.add(Long.MAX_VALUE);

    assertThat(latencyHistogram.count()).isEqualTo(2);
    assertThat(latencyHistogram.millis(1)).isPositive();
  }
}
