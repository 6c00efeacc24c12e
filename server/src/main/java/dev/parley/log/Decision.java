package dev.parley.log;

import dev.parley.protocol.Rejection;
import java.util.List;

/// Decides which events to append, given the current state of the context.
@FunctionalInterface
public interface Decision {

  /// The events to append, in order; empty to change nothing.
  ///
  /// @throws Rejection if the request cannot be fulfilled
  List<EventDraft> decide(ContextState state);

  /// Appends these events in any state.
  static Decision always(EventDraft... drafts) {
    var list = List.of(drafts);
    return _ -> list;
  }
}
