package dev.parley.api.a2a.push;

import dev.parley.a2a.A2aVersion;
import dev.parley.a2a.PushNotificationConfig;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;

/// A webhook that is registered for a task, and its progress.
///
/// @param target the address, with an id and the task's id
/// @param version the protocol version of the registration and of its notifications
/// @param cursor the last frame that the webhook accepted; [#START] before the first
/// @param state whether there is more to send
/// @param generation a number that grows each time a registration is stored; 0 before that
record PushRegistration(
    ContextId context,
    TaskId task,
    PushNotificationConfig target,
    A2aVersion version,
    String cursor,
    PushState state,
    long generation) {

  static final String START = "";

  /// Whether there is more to send.
  enum PushState {
    /// There is more to send, or there will be.
    OPEN,
    /// The task has ended and the webhook has received its end.
    DONE,
    /// The webhook failed for too long, or answered 410 (Gone).
    GIVEN_UP
  }

  /// The id, which is unique within the task.
  String id() {
    var id = target.id();
    if (id == null) {
      throw new IllegalStateException("registered without an id");
    }
    return id;
  }

  PushRegistration withCursor(String newCursor) {
    return new PushRegistration(context, task, target, version, newCursor, state, generation);
  }

  PushRegistration withState(PushState how) {
    return new PushRegistration(context, task, target, version, cursor, how, generation);
  }

  PushRegistration withGeneration(long newGeneration) {
    return new PushRegistration(context, task, target, version, cursor, state, newGeneration);
  }
}
