package dev.parley.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A write to an artifact. Tasks and users write files and data records; tasks write datasets.
///
/// `principal` is the user who wrote it; missing if a task did.
public sealed interface ArtifactEvent extends Event {

  /// The artifact.
  ArtifactId artifactId();

  /// The version of the artifact that this write belongs to, counted from 1.
  @Nullable Integer version();

  /// Writes a chunk of a file. Only chunk 0 has the name, description, MIME type and encoding.
  record FileWrite(
      ArtifactId artifactId,
      String data,
      int index,
      boolean complete,
      @Nullable String name,
      @Nullable String description,
      @Nullable String mimeType,
      @Nullable Encoding encoding,
      @Nullable ObjectNode metadata,
      @Nullable Integer version,
      @Nullable String principal)
      implements ArtifactEvent {
    /// A chunk that a task writes.
    public FileWrite(
        ArtifactId artifactId,
        String data,
        int index,
        boolean complete,
        @Nullable String name,
        @Nullable String description,
        @Nullable String mimeType,
        @Nullable Encoding encoding,
        @Nullable ObjectNode metadata,
        @Nullable Integer version) {
      this(
          artifactId,
          data,
          index,
          complete,
          name,
          description,
          mimeType,
          encoding,
          metadata,
          version,
          null);
    }
  }

  /// Writes a complete data record. A second write replaces the first.
  record DataWrite(
      ArtifactId artifactId,
      @Nullable String name,
      @Nullable String description,
      ObjectNode data,
      @Nullable ObjectNode metadata,
      @Nullable Integer version,
      @Nullable String principal)
      implements ArtifactEvent {
    /// A record that a task writes.
    public DataWrite(
        ArtifactId artifactId,
        @Nullable String name,
        @Nullable String description,
        ObjectNode data,
        @Nullable ObjectNode metadata,
        @Nullable Integer version) {
      this(artifactId, name, description, data, metadata, version, null);
    }
  }

  /// Writes a batch of rows of a dataset. Only batch 0 has the name, description and schema.
  record DatasetWrite(
      ArtifactId artifactId,
      List<ObjectNode> rows,
      int index,
      boolean complete,
      @Nullable String name,
      @Nullable String description,
      @Nullable JsonNode schema,
      @Nullable ObjectNode metadata,
      @Nullable Integer version)
      implements ArtifactEvent {
    public DatasetWrite {
      rows = List.copyOf(rows);
      schema = Json.present(schema);
    }
  }

  /// The encoding of a file's chunks in JSON.
  enum Encoding implements WireName {
    UTF_8,
    BASE64
  }
}
