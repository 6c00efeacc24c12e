package dev.parley.protocol;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A context as lists show it.
///
/// `position` is the position of the last event that is included. `lastStatus` is the state of its
/// last root task, if it has one.
public record ContextView(
    ContextId contextId,
    @Nullable String title,
    String owner,
    Instant createdAt,
    Instant updatedAt,
    Position position,
    long messageCount,
    long openTasks,
    @Nullable TaskState lastStatus,
    @Nullable ObjectNode metadata,
    @Nullable ForkedFrom forkedFrom) {

  /// The context that this one was forked from, and the last seq that both share.
  public record ForkedFrom(ContextId contextId, long atSeq) {}
}
