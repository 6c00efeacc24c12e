package dev.parley.protocol;

import dev.parley.protocol.ArtifactEvent.Encoding;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// One version of an artifact, without its content, which stays in the log from `firstSeq` to
/// `lastSeq`.
///
/// `rewound` is true if the context was rewound to a position before this version. Such a version
/// can be read, but is never the latest.
public record ArtifactView(
    ArtifactId artifactId,
    ArtifactType type,
    int version,
    int latestVersion,
    ArtifactStatus status,
    @Nullable String name,
    @Nullable String description,
    @Nullable String mimeType,
    @Nullable Encoding encoding,
    @Nullable JsonNode schema,
    long size,
    @Nullable TaskId taskId,
    long firstSeq,
    long lastSeq,
    Instant createdAt,
    Instant updatedAt,
    @Nullable Boolean rewound) {

  /// The kind of content.
  public enum ArtifactType implements WireName {
    FILE,
    DATA,
    DATASET
  }

  /// Whether the content is complete. It has `failed` if the task ended early or a chunk is
  /// missing.
  public enum ArtifactStatus implements WireName {
    BUILDING,
    COMPLETE,
    FAILED
  }
}
