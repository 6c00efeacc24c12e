package dev.parley.a2a;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A message of a client or an agent.
public record WireMessage(
    String messageId,
    @Nullable String contextId,
    @Nullable String taskId,
    WireRole role,
    List<WirePart> parts,
    @Nullable ObjectNode metadata,
    List<String> extensions,
    List<String> referenceTaskIds)
    implements WireItem {
  public WireMessage {
    parts = List.copyOf(parts);
    extensions = List.copyOf(extensions);
    referenceTaskIds = List.copyOf(referenceTaskIds);
  }

  /// Creates a message without extensions or references.
  public WireMessage(
      String messageId,
      @Nullable String contextId,
      @Nullable String taskId,
      WireRole role,
      List<WirePart> parts,
      @Nullable ObjectNode metadata) {
    this(messageId, contextId, taskId, role, parts, metadata, List.of(), List.of());
  }
}
