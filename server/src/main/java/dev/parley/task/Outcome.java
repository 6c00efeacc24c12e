package dev.parley.task;

import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskState;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// How an agent's work on a task came out.
public sealed interface Outcome {

  /// The work is done; `content` is the answer.
  ///
  /// `result` goes into the metadata of `task-complete`, if there is one.
  record Completed(String content, @Nullable ObjectNode result) implements Outcome {
    public Completed(String content) {
      this(content, null);
    }
  }

  /// The work could not be done.
  record Failed(ErrorCode code, String message, boolean retryable) implements Outcome {}

  /// There is nothing to do until an answer comes or a subtask ends. The agent's thread ends; when
  /// something has come that the run has not read yet, the agent is called again.
  record Parked(TaskState state, ObjectNode metadata) implements Outcome {}
}
