package dev.parley.a2a;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A message to an agent, and options for the response.
///
/// @param blocking whether the response waits until the task ends or needs input
/// @param historyLength how many messages of the history to return; null for the server's default
public record SendMessageRequest(
    A2aMessage message,
    List<String> acceptedOutputModes,
    @Nullable Integer historyLength,
    boolean blocking,
    @Nullable PushNotificationConfig push,
    @Nullable ObjectNode metadata,
    @Nullable String tenant) {
  public SendMessageRequest {
    acceptedOutputModes = List.copyOf(acceptedOutputModes);
  }
}
