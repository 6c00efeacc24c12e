package dev.parley.a2a;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A chunk of an artifact: the first (`append` is false), a further one, or the last.
public record A2aArtifactUpdate(
    String taskId,
    String contextId,
    A2aArtifact artifact,
    boolean append,
    boolean lastChunk,
    @Nullable ObjectNode metadata)
    implements A2aResponseItem {}
