package dev.parley.client;

import dev.parley.protocol.ReportEvent.Usage;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/// The usage and cost of one model in a context: sums over its calls.
public record UsageInfo(
    String model,
    long calls,
    long inputTokens,
    long outputTokens,
    @Nullable BigDecimal costUsd,
    @Nullable Long cacheCreationInputTokens,
    @Nullable Long cacheReadInputTokens) {

  /// All input tokens, including cached ones.
  public long allInputTokens() {
    return Usage.allInputTokens(inputTokens, cacheCreationInputTokens, cacheReadInputTokens);
  }
}
