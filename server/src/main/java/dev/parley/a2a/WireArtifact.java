package dev.parley.a2a;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// An artifact of a task.
public record WireArtifact(
    String artifactId,
    @Nullable String name,
    @Nullable String description,
    List<WirePart> parts,
    @Nullable ObjectNode metadata,
    List<String> extensions) {
  public WireArtifact {
    parts = List.copyOf(parts);
    extensions = List.copyOf(extensions);
  }
}
