package dev.parley.door.a2a.push;

import dev.parley.a2a.PushTarget;
import dev.parley.a2a.Version;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;

/// A webhook that wants to know of a task, and up to where it does.
///
/// @param target with an id and the task's
/// @param version what it was registered in, and so is told in
/// @param cursor the frame that was last taken; [#START] before the first
/// @param state whether there is more to tell
/// @param generation which of those that were kept under this id; 0 before it is kept
record Registration(
    ContextId context,
    TaskId task,
    PushTarget target,
    Version version,
    String cursor,
    State state,
    long generation) {

  static final String START = "";

  /// Whether there is more to tell.
  enum State {
    /// There is, or will be.
    OPEN,
    /// The task has ended, and the webhook knows.
    DONE,
    /// The webhook did not take what it was sent for too long, or said that it is gone.
    GIVEN_UP
  }

  /// What it is called among those of the task.
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
