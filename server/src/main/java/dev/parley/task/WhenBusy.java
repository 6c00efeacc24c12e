package dev.parley.task;

import dev.parley.protocol.WireName;

/// What happens to a message when a task of its context is already running.
public enum WhenBusy implements WireName {
  /// The message waits in the queue.
  ENQUEUE,
  /// The message is rejected.
  REJECT,
  /// The running task is canceled, its text is kept, and the message runs next.
  INTERRUPT,
  /// The running task is canceled and rewound, and the message runs next.
  ROLLBACK,
  /// The message is added to the running task before its next model call.
  STEER
}
