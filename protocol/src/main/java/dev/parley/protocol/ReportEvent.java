package dev.parley.protocol;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/// A report about the cost or the failure of work.
public sealed interface ReportEvent extends Event {

  /// The tokens that one model call used. Totals are sums of these.
  record Usage(
      String model,
      long inputTokens,
      long outputTokens,
      @Nullable Long cacheCreationInputTokens,
      @Nullable Long cacheReadInputTokens,
      @Nullable BigDecimal costUsd)
      implements ReportEvent {

    /// All input tokens. `inputTokens` does not include the tokens that were read from or written
    /// to the cache.
    public long allInputTokens() {
      return allInputTokens(inputTokens, cacheCreationInputTokens, cacheReadInputTokens);
    }

    /// All input and output tokens. All token totals that are shown to users are sums of these.
    public long totalTokens() {
      return allInputTokens() + outputTokens;
    }

    /// The sum of this and another usage. If their models differ, the sum has no model.
    public Usage plus(Usage other) {
      return new Usage(
          model.equals(other.model) ? model : "",
          inputTokens + other.inputTokens,
          outputTokens + other.outputTokens,
          sum(cacheCreationInputTokens, other.cacheCreationInputTokens, Long::sum),
          sum(cacheReadInputTokens, other.cacheReadInputTokens, Long::sum),
          sum(costUsd, other.costUsd, BigDecimal::add));
    }

    private static <T> @Nullable T sum(
        @Nullable T one, @Nullable T other, BinaryOperator<T> addition) {
      return one == null ? other : other == null ? one : addition.apply(one, other);
    }

    /// All input tokens of a sum that is not in an event.
    public static long allInputTokens(long input, @Nullable Long written, @Nullable Long read) {
      return input + (written == null ? 0 : written) + (read == null ? 0 : read);
    }
  }

  /// Something failed. The event gives the details of a failed task, tool or stream.
  record ErrorReported(
      ErrorCode code,
      String message,
      boolean retryable,
      ErrorScope scope,
      @Nullable ToolCallId toolCallId)
      implements ReportEvent {}

  /// A raw line that a program printed. It precedes the first event that was made from it.
  record InternalRaw(String source, String line, @Nullable Integer cut) implements ReportEvent {

    /// A complete line.
    public InternalRaw(String source, String line) {
      this(source, line, null);
    }

    @Override
    public boolean internal() {
      return true;
    }

    /// The same line without `text`, if the line has it as one JSON string. A later event contains
    /// the text, and the log does not store it twice: `cut` is the index where it was removed.
    public InternalRaw without(String text) {
      var quoted = Json.mapper().writeValueAsString(text);
      var at = cut == null ? line.indexOf(quoted) : -1;
      return at < 0
          ? this
          : new InternalRaw(
              source, line.substring(0, at) + line.substring(at + quoted.length()), at);
    }

    /// The complete line, with `text` inserted if a text was removed.
    public String line(String text) {
      return cut == null || cut < 0 || cut > line.length()
          ? line
          : line.substring(0, cut) + Json.mapper().writeValueAsString(text) + line.substring(cut);
    }

    /// The text of an event that may have been removed from a line; null if it has none.
    public static @Nullable String textOf(Event event) {
      return switch (event) {
        case ContentEvent.ContentDelta delta -> delta.delta();
        case ContentEvent.ContentComplete complete -> complete.content();
        case ThoughtEvent.ThoughtStream thought -> thought.content();
        case ToolEvent.ToolComplete end when end.result() != null && end.result().isString() ->
            end.result().asString();
        default -> null; // The text of other events is not removed from lines.
      };
    }
  }

  /// The reason for a failure. The list is closed.
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
