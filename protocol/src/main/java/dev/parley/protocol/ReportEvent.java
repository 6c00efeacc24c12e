package dev.parley.protocol;

import java.math.BigDecimal;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// What work cost and what went wrong with it.
public sealed interface ReportEvent extends Event {

  /// Tokens that one model call used; totals are sums over these.
  record Usage(
      String model,
      long inputTokens,
      long outputTokens,
      @Nullable Long cacheCreationInputTokens,
      @Nullable Long cacheReadInputTokens,
      @Nullable BigDecimal costUsd)
      implements ReportEvent {}

  /// Something failed: the detail behind a failed task, tool or stream.
  record ErrorReported(
      ErrorCode code,
      String message,
      boolean retryable,
      ErrorScope scope,
      @Nullable ToolCallId toolCallId)
      implements ReportEvent {}

  /// A line that a program printed, as it was; `source` is which program.
  record InternalRaw(String source, String line) implements ReportEvent {}

  /// Why something failed; a closed list.
  enum ErrorCode implements WireName {
    TIMEOUT,
    RATE_LIMITED,
    AUTH,
    INVALID_INPUT,
    TOOL_FAILED,
    MODEL_ERROR,
    INTERRUPTED,
    LIMIT,
    REJECTED,
    INTERNAL,
    CRASHED;

    @Override
    public String wire() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// What failed.
  enum ErrorScope implements WireName {
    TASK,
    TOOL,
    STREAM
  }
}
