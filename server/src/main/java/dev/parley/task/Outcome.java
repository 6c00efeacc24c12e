package dev.parley.task;

import dev.parley.protocol.ReportEvent.ErrorCode;

/// How an agent's work on a task came out.
public sealed interface Outcome {

  /// The work is done; `content` is the answer.
  record Completed(String content) implements Outcome {}

  /// The work could not be done.
  record Failed(ErrorCode code, String message, boolean retryable) implements Outcome {}
}
