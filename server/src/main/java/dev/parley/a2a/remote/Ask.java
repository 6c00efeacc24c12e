package dev.parley.a2a.remote;

import dev.parley.a2a.SendRequest;

/// A request to a remote agent.
sealed interface Ask {

  /// Sends a message; the response is a stream or one item.
  record Send(SendRequest request, boolean streaming) implements Ask {}

  /// Gets a task.
  record Get(String task, int historyLength) implements Ask {}

  /// Cancels a task.
  record Cancel(String task) implements Ask {}

  /// Subscribes to a task from now on, or after the event `last` if that is not empty.
  record Subscribe(String task, String last) implements Ask {}

  /// Lists the latest tasks.
  record Latest(int count, int historyLength) implements Ask {}

  /// True if the response of a successful request is a stream.
  default boolean streams() {
    return switch (this) {
      case Send send -> send.streaming();
      case Subscribe _ -> true;
      case Get _, Cancel _, Latest _ -> false;
    };
  }
}
