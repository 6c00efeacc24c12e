package dev.parley.model;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/// Prices per million tokens in US dollars. Without prices of their own, tokens that are written to
/// or read from a cache cost as much as other input.
public record Prices(
    BigDecimal input,
    BigDecimal output,
    @Nullable BigDecimal cacheWrite,
    @Nullable BigDecimal cacheRead) {

  private static final int MILLION_DIGITS = 6;

  BigDecimal cost(long inputs, long outputs, long cacheWrites, long cacheReads) {
    var sum =
        times(input, inputs)
            .add(times(output, outputs))
            .add(times(cacheWrite == null ? input : cacheWrite, cacheWrites))
            .add(times(cacheRead == null ? input : cacheRead, cacheReads))
            .movePointLeft(MILLION_DIGITS)
            .stripTrailingZeros();
    return sum.scale() < 0 ? sum.setScale(0) : sum;
  }

  private static BigDecimal times(BigDecimal price, long tokens) {
    return price.multiply(BigDecimal.valueOf(tokens));
  }
}
