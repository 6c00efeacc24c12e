package dev.parley.log;

import dev.parley.protocol.Rejection;
import java.util.List;

/// Chooses what to append, given the context as it is.
@FunctionalInterface
public interface Decision {

  /// The events to append, in order; none if nothing is to change.
  ///
  /// @throws Rejection if the caller asked for what cannot be
  List<Draft> decide(ContextState state);

  /// Appends these events whatever the state is.
  static Decision always(Draft... drafts) {
    var list = List.of(drafts);
    return _ -> list;
  }
}
