package dev.parley.a2a;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A task stands elsewhere now. `last` says that the stream ends with it; only 0.3 writes that.
public record WireStatusUpdate(
    String taskId, String contextId, WireStatus status, boolean last, @Nullable ObjectNode metadata)
    implements WireItem {}
