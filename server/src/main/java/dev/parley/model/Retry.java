package dev.parley.model;

import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// An attempt at a question failed, and the model is asked again after `delay`.
///
/// `attempt` is the number of the attempt that follows; the first one is 1. `usage` is what the provider reported for
/// the failed attempt, if anything.
public record Retry(
    int attempt,
    int maxAttempts,
    Duration delay,
    ErrorCode code,
    String reason,
    @Nullable Usage usage) {}
