package dev.parley.view;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/// What one model cost a context: sums over its calls.
public record UsageView(
    String model,
    long calls,
    long inputTokens,
    long outputTokens,
    long cacheCreationInputTokens,
    long cacheReadInputTokens,
    @Nullable BigDecimal costUsd) {}
