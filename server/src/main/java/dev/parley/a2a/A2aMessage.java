package dev.parley.a2a;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A message of a client or an agent.
public record A2aMessage(
    String messageId,
    @Nullable String contextId,
    @Nullable String taskId,
    A2aRole role,
    List<A2aPart> parts,
    @Nullable ObjectNode metadata,
    List<String> extensions,
    List<String> referenceTaskIds)
    implements A2aResponseItem {
  public A2aMessage {
    parts = List.copyOf(parts);
    extensions = List.copyOf(extensions);
    referenceTaskIds = List.copyOf(referenceTaskIds);
  }

  /// Creates a message without extensions or references.
  public A2aMessage(
      String messageId,
      @Nullable String contextId,
      @Nullable String taskId,
      A2aRole role,
      List<A2aPart> parts,
      @Nullable ObjectNode metadata) {
    this(messageId, contextId, taskId, role, parts, metadata, List.of(), List.of());
  }

  /// The same message with another text, without extensions or references.
  public A2aMessage withText(String text) {
    return new A2aMessage(
        messageId, contextId, taskId, role, List.of(A2aPart.text(text)), metadata);
  }
}
