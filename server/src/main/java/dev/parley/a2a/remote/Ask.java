package dev.parley.a2a.remote;

import dev.parley.a2a.SendRequest;

/// A request to an agent.
sealed interface Ask {

  /// A message, answered with a stream or with one thing.
  record Send(SendRequest request, boolean streaming) implements Ask {}

  /// Where a task stands.
  record Get(String task, int historyLength) implements Ask {}

  /// A task is to stop.
  record Cancel(String task) implements Ask {}

  /// What comes of a task from now on, or after the event `last` if that is not empty.
  record Subscribe(String task, String last) implements Ask {}

  /// The latest tasks.
  record Latest(int count, int historyLength) implements Ask {}

  /// True if the answer is a stream, where all goes well.
  default boolean streams() {
    return switch (this) {
      case Send send -> send.streaming();
      case Subscribe _ -> true;
      case Get _, Cancel _, Latest _ -> false;
    };
  }
}
