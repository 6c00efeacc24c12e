package dev.parley.task;

import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskState;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The result of an agent's work on a task.
public sealed interface TaskOutcome {

  /// The work is done; `content` is the answer.
  ///
  /// `result`, if present, is added to the metadata of `task-complete`.
  record Completed(String content, @Nullable ObjectNode result) implements TaskOutcome {
    public Completed(String content) {
      this(content, null);
    }
  }

  /// The work failed.
  ///
  /// `result`, if present, is added to the metadata of the task's last status.
  record Failed(ErrorCode code, String message, boolean retryable, @Nullable ObjectNode result)
      implements TaskOutcome {
    public Failed(ErrorCode code, String message, boolean retryable) {
      this(code, message, retryable, null);
    }
  }

  /// The task cannot continue before an answer arrives or a subtask ends. The agent's thread ends;
  /// when there are new entries that the run has not read, the runtime calls the agent again.
  record Parked(TaskState state, ObjectNode metadata) implements TaskOutcome {}
}
