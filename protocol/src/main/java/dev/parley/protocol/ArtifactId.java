package dev.parley.protocol;

/// Identifies an artifact of a context.
public record ArtifactId(String value) implements Id {

  public ArtifactId {
    Id.check("artifactId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
