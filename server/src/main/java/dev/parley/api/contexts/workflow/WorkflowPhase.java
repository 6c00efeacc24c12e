package dev.parley.api.contexts.workflow;

import dev.parley.protocol.TaskState;

/// The workflow format's names for the states of a task.
final class WorkflowPhase {

  private WorkflowPhase() {}

  static String of(TaskState state) {
    return switch (state) {
      case SUBMITTED -> "submitted";
      case WORKING -> "running";
      case WAITING_INPUT -> "waiting_input";
      case WAITING_AUTH -> "waiting_auth";
      case WAITING_SUBTASK -> "waiting_subtask";
      case COMPLETED -> "succeeded";
      case FAILED -> "failed";
      case CANCELED -> "cancelled";
    };
  }
}
