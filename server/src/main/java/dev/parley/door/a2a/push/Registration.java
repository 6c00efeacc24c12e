package dev.parley.door.a2a.push;

import dev.parley.a2a.PushTarget;
import dev.parley.a2a.Version;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;

/// A webhook that is registered for a task, and its progress.
///
/// @param target the address, with an id and the task's id
/// @param version the protocol version of the registration and of its notifications
/// @param cursor the last frame that the webhook accepted; [#START] before the first
/// @param state whether there is more to send
/// @param generation a number that grows each time a registration is stored; 0 before that
record Registration(
    ContextId context,
    TaskId task,
    PushTarget target,
    Version version,
    String cursor,
    State state,
    long generation) {

  static final String START = "";

  /// Whether there is more to send.
  enum State {
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

  Registration at(String newCursor) {
    return new Registration(context, task, target, version, newCursor, state, generation);
  }

  Registration ended(State how) {
    return new Registration(context, task, target, version, cursor, how, generation);
  }

  Registration in(long newGeneration) {
    return new Registration(context, task, target, version, cursor, state, newGeneration);
  }
}
