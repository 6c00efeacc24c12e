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
      implements ReportEvent {

    /// All tokens that the model read: those in its cache, and those that went into it, are not among `inputTokens`.
    public long allInputTokens() {
      return allInputTokens(inputTokens, cacheCreationInputTokens, cacheReadInputTokens);
    }

    /// All tokens that the model read and wrote. Every sum of tokens that people are shown is made of these.
    public long totalTokens() {
      return allInputTokens() + outputTokens;
    }

    /// The same for sums that are kept elsewhere.
    public static long allInputTokens(long input, @Nullable Long written, @Nullable Long read) {
      return input + (written == null ? 0 : written) + (read == null ? 0 : read);
    }
  }

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
