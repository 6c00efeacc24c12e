package dev.parley.view;

import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.WireName;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// One version of an artifact, without its content, which stays in the log from `firstSeq` to `lastSeq`.
///
/// `rewound` says that the context went back to before it: it can be read, and is not the latest.
public record ArtifactView(
    ArtifactId artifactId,
    Type type,
    int version,
    int latestVersion,
    Status status,
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

  /// What an artifact is.
  public enum Type implements WireName {
    FILE,
    DATA,
    DATASET
  }

  /// Whether all of it is there; `failed` if the task ended, or a chunk is missing.
  public enum Status implements WireName {
    BUILDING,
    COMPLETE,
    FAILED
  }
}
