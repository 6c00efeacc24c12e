package dev.parley.model;

import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// How a question to a model came out.
public sealed interface Reply {

  /// The model answered, and wants these tools called, if any.
  ///
  /// `memo` is what only this model understands, such as signed thoughts: it is kept with the turn and
  /// handed back with it in later prompts.
  record Answered(FinishReason reason, List<ToolCall> calls, Usage usage, @Nullable JsonNode memo)
      implements Reply {
    public Answered {
      calls = List.copyOf(calls);
    }
  }

  /// The model could not answer. `usage` is what the provider reported for the last attempt, if anything.
  record Failed(ErrorCode code, String message, boolean retryable, @Nullable Usage usage)
      implements Reply {

    /// A failure that used no tokens, as far as is known.
    public Failed(ErrorCode code, String message, boolean retryable) {
      this(code, message, retryable, null);
    }
  }
}
