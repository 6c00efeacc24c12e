package dev.parley.protocol;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// An event as stored in the log, with its position, time and origin.
///
/// `origin` is missing if the event comes from no task. `timestamp` has millisecond precision and
/// never decreases within a context. It is for display: the order is given by `position` only.
public record Entry(
    ContextId contextId,
    Position position,
    UUID eventId,
    Instant timestamp,
    @Nullable Origin origin,
    Event event) {

  /// The kind of the event.
  public Kind kind() {
    return Kind.of(event);
  }

  /// The task that the event comes from, if any.
  public @Nullable TaskId taskId() {
    return origin == null ? null : origin.taskId();
  }
}
