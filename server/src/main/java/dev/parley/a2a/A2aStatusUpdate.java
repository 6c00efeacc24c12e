package dev.parley.a2a;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The status of a task changed. `last` marks the end of the stream; only 0.3 writes it.
public record A2aStatusUpdate(
    String taskId, String contextId, A2aStatus status, boolean last, @Nullable ObjectNode metadata)
    implements A2aResponseItem {}
