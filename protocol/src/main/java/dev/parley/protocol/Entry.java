package dev.parley.protocol;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// An event as it stands in the log: where, when, from which task, what.
///
/// `origin` is missing where no task is involved. `timestamp` has milliseconds, never runs backwards
/// within a context, and is for people: order comes from `position` alone.
public record Entry(
    ContextId contextId,
    Position position,
    UUID eventId,
    Instant timestamp,
    @Nullable Origin origin,
    Event event) {

  /// The task this comes from, if any.
  public @Nullable TaskId taskId() {
    return origin == null ? null : origin.taskId();
  }
}
