package dev.parley.task;

import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskState;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The result of an agent's work on a task.
public sealed interface TaskOutcome {

  /// The work is done; `content` is the answer.
  ///
  /// `result`, if present, is added to the metadata of `task-complete`. `reason` is the finish
  /// reason of the answer if the task passes on the answer of a subtask; otherwise the task's last
  /// block of text has it.
  record Completed(String content, @Nullable ObjectNode result, @Nullable FinishReason reason)
      implements TaskOutcome {
    public Completed(String content) {
      this(content, null, null);
    }

    public Completed(String content, @Nullable ObjectNode result) {
      this(content, result, null);
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

  /// The agent has created subtasks and, in the same append, written that the task waits for them.
  record Delegated() implements TaskOutcome {}

  /// The agent stops at a point where it can continue, because an operator has paused the task. The
  /// runtime calls it again after the end of the pause with this id.
  record Suspended(String pause) implements TaskOutcome {}

  /// The task cannot continue before an answer arrives or a subtask ends. The agent's thread ends;
  /// when there are new entries that the run has not read, the runtime calls the agent again.
  record Parked(TaskState state, ObjectNode metadata) implements TaskOutcome {}
}
