package dev.parley.protocol;

import java.util.Set;

/// The state of a task.
public enum TaskState implements WireName {
  SUBMITTED,
  WORKING,
  WAITING_INPUT,
  WAITING_AUTH,
  WAITING_SUBTASK,
  COMPLETED,
  FAILED,
  CANCELED;

  private static final Set<TaskState> WAITING =
      Set.of(WAITING_INPUT, WAITING_AUTH, WAITING_SUBTASK);

  /// True if a task in this state has ended and will never change again.
  public boolean terminal() {
    return this == COMPLETED || this == FAILED || this == CANCELED;
  }

  /// True if a task in this state waits for input, a sign-in or a subtask.
  public boolean waiting() {
    return WAITING.contains(this);
  }

  /// True if a task may go from this state to `next`.
  public boolean mayBecome(TaskState next) {
    return switch (this) {
      case SUBMITTED -> next != COMPLETED && !next.waiting();
      case WORKING -> next != SUBMITTED;
      case WAITING_INPUT, WAITING_AUTH, WAITING_SUBTASK -> next != SUBMITTED && next != COMPLETED;
      case COMPLETED, FAILED, CANCELED -> false;
    };
  }
}
