package dev.parley.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A task, or a person, writes a file or a data record; a task writes a dataset.
///
/// `principal` is the person who wrote it, and is missing if a task did.
public sealed interface ArtifactEvent extends Event {

  /// The artifact that is written.
  ArtifactId artifactId();

  /// The artifact's version that this write belongs to, counted from 1.
  @Nullable Integer version();

  /// A chunk of a file. Name, description, type and encoding stand on chunk 0 only.
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

  /// A whole data record; a second write replaces the first.
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

  /// A batch of rows. Name, description and schema stand on batch 0 only.
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

  /// How a file's chunks are written in JSON.
  enum Encoding implements WireName {
    UTF_8,
    BASE64
  }
}
