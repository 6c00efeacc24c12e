package dev.parley.a2a;

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
}
