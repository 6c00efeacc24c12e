package dev.parley.model;

import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The outcome of a request to a model.
public sealed interface ModelReply {

  /// The model's answer, with the tools that it wants to call.
  ///
  /// `memo` is data that only this model understands, such as signed thinking blocks. It is stored
  /// with the turn and included in later prompts.
  record ModelAnswer(
      FinishReason reason, List<ToolCall> calls, Usage usage, @Nullable JsonNode memo)
      implements ModelReply {
    public ModelAnswer {
      calls = List.copyOf(calls);
    }
  }

  /// The request failed. `usage` is what the provider reported for the last attempt, if anything.
  record ModelError(ErrorCode code, String message, boolean retryable, @Nullable Usage usage)
      implements ModelReply {

    /// A failure without reported usage.
    public ModelError(ErrorCode code, String message, boolean retryable) {
      this(code, message, retryable, null);
    }
  }
}
