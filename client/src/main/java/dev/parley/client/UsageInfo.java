package dev.parley.client;

import dev.parley.protocol.ReportEvent.Usage;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/// What one model cost a context: sums over its calls.
public record UsageInfo(
    String model,
    long calls,
    long inputTokens,
    long outputTokens,
    @Nullable BigDecimal costUsd,
    @Nullable Long cacheCreationInputTokens,
    @Nullable Long cacheReadInputTokens) {

  /// All tokens that the model read, those in its cache too.
  public long allInputTokens() {
    return Usage.allInputTokens(inputTokens, cacheCreationInputTokens, cacheReadInputTokens);
  }
}
