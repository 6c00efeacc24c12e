package dev.parley.api.chat;

import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.WireName;
import org.jspecify.annotations.Nullable;

/// The state of a task in the chat API. The last four are those of a result.
enum ChatStatus implements WireName {
  PENDING,
  RUNNING,
  WAITING,
  SUCCESS,
  FAILURE,
  CANCELLED,
  TIMEOUT;

  /// The status for a state, and for its error if it has one.
  static ChatStatus of(TaskState state, @Nullable ErrorCode error) {
    return switch (state) {
      case SUBMITTED -> PENDING;
      case WORKING, WAITING_SUBTASK -> RUNNING;
      case WAITING_INPUT, WAITING_AUTH -> WAITING;
      case COMPLETED -> SUCCESS;
      case CANCELED -> CANCELLED;
      case FAILED -> error == ErrorCode.TIMEOUT ? TIMEOUT : FAILURE;
    };
  }

  /// True if there is a result.
  boolean ended() {
    return switch (this) {
      case PENDING, RUNNING, WAITING -> false;
      case SUCCESS, FAILURE, CANCELLED, TIMEOUT -> true;
    };
  }
}
