package dev.parley.log;

import dev.parley.protocol.Event;
import dev.parley.protocol.Origin;
import org.jspecify.annotations.Nullable;

/// An event to append, and the task that it comes from, if any.
public record EventDraft(@Nullable Origin origin, Event event) {

  /// An event that comes from no task.
  public static EventDraft of(Event event) {
    return new EventDraft(null, event);
  }
}
