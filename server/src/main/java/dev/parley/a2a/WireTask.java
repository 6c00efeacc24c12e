package dev.parley.a2a;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A task with its messages and artifacts. A null `history` means that it was not requested.
public record WireTask(
    String id,
    String contextId,
    WireStatus status,
    List<WireArtifact> artifacts,
    @Nullable List<WireMessage> history,
    @Nullable ObjectNode metadata)
    implements WireItem {
  public WireTask {
    artifacts = List.copyOf(artifacts);
    history = history == null ? null : List.copyOf(history);
  }
}
