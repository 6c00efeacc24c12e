package dev.parley.log;

import dev.parley.protocol.Event;
import dev.parley.protocol.Origin;
import org.jspecify.annotations.Nullable;

/// An event to append, and the task that it comes from, if any.
public record Draft(@Nullable Origin origin, Event event) {

  /// An event that comes from no task.
  public static Draft of(Event event) {
    return new Draft(null, event);
  }
}
