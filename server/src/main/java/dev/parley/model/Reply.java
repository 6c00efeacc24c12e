package dev.parley.model;

import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The outcome of a request to a model.
public sealed interface Reply {

  /// The model's answer, with the tools that it wants to call.
  ///
  /// `memo` is data that only this model understands, such as signed thinking blocks. It is stored
  /// with the turn and included in later prompts.
  record Answered(FinishReason reason, List<ToolCall> calls, Usage usage, @Nullable JsonNode memo)
      implements Reply {
    public Answered {
      calls = List.copyOf(calls);
    }
  }

  /// The request failed. `usage` is what the provider reported for the last attempt, if anything.
  record Failed(ErrorCode code, String message, boolean retryable, @Nullable Usage usage)
      implements Reply {

    /// A failure without reported usage.
    public Failed(ErrorCode code, String message, boolean retryable) {
      this(code, message, retryable, null);
    }
  }
}
