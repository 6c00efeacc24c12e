package dev.parley.model;

import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.List;

/// How a question to a model came out.
public sealed interface Reply {

  /// The model answered, and wants these tools called, if any.
  record Answered(FinishReason reason, List<ToolCall> calls, Usage usage) implements Reply {
    public Answered {
      calls = List.copyOf(calls);
    }
  }

  /// The model could not answer.
  record Failed(ErrorCode code, String message, boolean retryable) implements Reply {}
}
