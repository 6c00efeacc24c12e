package dev.parley.client;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A context, as in lists. `lastStatus` is the state of its last root task, if it has one.
public record ContextInfo(
    ContextId contextId,
    @Nullable String title,
    @Nullable String owner,
    Instant createdAt,
    Instant updatedAt,
    Position position,
    long messageCount,
    long openTasks,
    @Nullable TaskState lastStatus,
    @Nullable ObjectNode metadata,
    @Nullable ForkedFrom forkedFrom) {

  /// Which context this one was forked from, and the last seq that they share.
  public record ForkedFrom(ContextId contextId, long atSeq) {}
}
