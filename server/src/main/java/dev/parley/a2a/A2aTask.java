package dev.parley.a2a;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A task with its messages and artifacts. A null `history` means that it was not requested.
public record A2aTask(
    String id,
    String contextId,
    A2aStatus status,
    List<A2aArtifact> artifacts,
    @Nullable List<A2aMessage> history,
    @Nullable ObjectNode metadata)
    implements A2aResponseItem {
  public A2aTask {
    artifacts = List.copyOf(artifacts);
    history = history == null ? null : List.copyOf(history);
  }

  /// The same task with other artifacts and messages.
  public A2aTask with(List<A2aArtifact> newArtifacts, @Nullable List<A2aMessage> newHistory) {
    return new A2aTask(id, contextId, status, newArtifacts, newHistory, metadata);
  }

  /// The status of a task: its state, the time, and a message of the agent.
  public record A2aStatus(
      A2aState state, @Nullable A2aMessage message, @Nullable Instant timestamp) {}
}
