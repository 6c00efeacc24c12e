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

  /// A line that a program printed, as it was; `source` is which program. It stands before the first event that was made
  /// of it.
  ///
  /// The log does not hold a text twice: `cut` is where a JSON string was left out of the line, whose text is that of the
  /// next event of the same task that has one. It is missing if nothing was left out.
  record InternalRaw(String source, String line, @Nullable Integer cut) implements ReportEvent {

    /// A line of which nothing was left out.
    public InternalRaw(String source, String line) {
      this(source, line, null);
    }

    /// The same without a text that an event after it has, if the line has this text as one JSON string.
    public InternalRaw without(String text) {
      var quoted = Json.mapper().writeValueAsString(text);
      var at = cut == null ? line.indexOf(quoted) : -1;
      return at < 0
          ? this
          : new InternalRaw(
              source, line.substring(0, at) + line.substring(at + quoted.length()), at);
    }

    /// The whole line, with the text that was left out, if one was.
    public String line(String text) {
      return cut == null || cut < 0 || cut > line.length()
          ? line
          : line.substring(0, cut) + Json.mapper().writeValueAsString(text) + line.substring(cut);
    }

    /// The text of an event by which a line can be made whole; null if it has none.
    public static @Nullable String textOf(Event event) {
      return switch (event) {
        case ContentEvent.ContentDelta delta -> delta.delta();
        case ContentEvent.ContentComplete complete -> complete.content();
        case ThoughtEvent.ThoughtStream thought -> thought.content();
        case ToolEvent.ToolComplete end when end.result() != null && end.result().isString() ->
            end.result().asString();
        default -> null; // Lines do not repeat the others.
      };
    }
  }

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
