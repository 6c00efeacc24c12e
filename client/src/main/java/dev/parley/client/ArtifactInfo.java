package dev.parley.client;

import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.TaskId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// One version of an artifact, without its content. `type` is `file`, `data` or `dataset`;
/// `rewound` is true if a rewind took the context back to before the artifact.
public record ArtifactInfo(
    ArtifactId artifactId,
    String type,
    int version,
    int latestVersion,
    String status,
    @Nullable String name,
    @Nullable String description,
    @Nullable String mimeType,
    long size,
    @Nullable TaskId taskId,
    Instant createdAt,
    Instant updatedAt,
    @Nullable Boolean rewound) {}
