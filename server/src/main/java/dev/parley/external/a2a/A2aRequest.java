package dev.parley.external.a2a;

import dev.parley.a2a.SendMessageRequest;

/// A request to a remote agent.
sealed interface A2aRequest {

  /// Sends a message; the response is a stream or one item.
  record SendMessage(SendMessageRequest request, boolean streaming) implements A2aRequest {}

  /// Gets a task.
  record GetTask(String task, int historyLength) implements A2aRequest {}

  /// Cancels a task.
  record CancelTask(String task) implements A2aRequest {}

  /// Subscribes to a task from now on, or after the event `last` if that is not empty.
  record SubscribeToTask(String task, String last) implements A2aRequest {}

  /// Lists the latest tasks.
  record ListTasks(int count, int historyLength) implements A2aRequest {}

  /// True if the response of a successful request is a stream.
  default boolean streams() {
    return switch (this) {
      case SendMessage sendMessage -> sendMessage.streaming();
      case SubscribeToTask _ -> true;
      case GetTask _, CancelTask _, ListTasks _ -> false;
    };
  }
}
