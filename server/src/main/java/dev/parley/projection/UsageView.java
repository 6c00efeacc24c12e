package dev.parley.projection;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/// The usage of one model in a context: sums over its calls.
public record UsageView(
    String model,
    long calls,
    long inputTokens,
    long outputTokens,
    long cacheCreationInputTokens,
    long cacheReadInputTokens,
    @Nullable BigDecimal costUsd) {}
