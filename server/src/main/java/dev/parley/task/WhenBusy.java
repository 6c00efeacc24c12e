package dev.parley.task;

import dev.parley.protocol.WireName;

/// What a message does when a task of its context already runs.
public enum WhenBusy implements WireName {
  /// Waits its turn.
  ENQUEUE,
  /// Is refused.
  REJECT,
  /// Cancels the running task, keeps what it said, and runs.
  INTERRUPT,
  /// Cancels the running task, takes it back, and runs.
  ROLLBACK,
  /// Is put to the running task before its next question to the model.
  STEER
}
