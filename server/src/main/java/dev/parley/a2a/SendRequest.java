package dev.parley.a2a;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A message to an agent, and how it is to be answered.
///
/// @param blocking whether the answer waits until the task has ended or waits for its caller
/// @param historyLength how many messages of the task's history are wanted; null leaves it to the server
public record SendRequest(
    WireMessage message,
    List<String> acceptedOutputModes,
    @Nullable Integer historyLength,
    boolean blocking,
    @Nullable PushTarget push,
    @Nullable ObjectNode metadata,
    @Nullable String tenant) {
  public SendRequest {
    acceptedOutputModes = List.copyOf(acceptedOutputModes);
  }
}
