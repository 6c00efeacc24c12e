package dev.parley.client;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/// What one model cost a context: sums over its calls.
public record UsageInfo(
    String model, long calls, long inputTokens, long outputTokens, @Nullable BigDecimal costUsd) {}
