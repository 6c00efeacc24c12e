package dev.parley.model;

import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A failed attempt that is retried after `delay`.
///
/// `attempt` is the number of the next attempt; the first attempt is 1. `usage` is what the
/// provider reported for the failed attempt, if anything.
public record ModelRetry(
    int attempt,
    int maxAttempts,
    Duration delay,
    ErrorCode code,
    String reason,
    @Nullable Usage usage) {}
