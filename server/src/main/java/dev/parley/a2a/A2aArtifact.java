package dev.parley.a2a;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// An artifact of a task.
public record A2aArtifact(
    String artifactId,
    @Nullable String name,
    @Nullable String description,
    List<A2aPart> parts,
    @Nullable ObjectNode metadata,
    List<String> extensions) {
  public A2aArtifact {
    parts = List.copyOf(parts);
    extensions = List.copyOf(extensions);
  }

  /// The same artifact with other parts.
  public A2aArtifact withParts(List<A2aPart> newParts) {
    return new A2aArtifact(artifactId, name, description, newParts, metadata, extensions);
  }
}
