package dev.parley.log;

import dev.parley.protocol.Position;
import java.util.List;

/// What a fork begins with: what it shares, and the state and time of the last entry of that.
///
/// Nobody changes `state` any more.
record Fork(LiveContext source, List<Share> shares, ContextState state, long millis)
    implements Ticket.Along {

  /// The last position that is shared.
  Position cut() {
    return state.head();
  }

  /// True if some of what is shared is not in segments yet. For the writer.
  boolean needsSealing() {
    return cut().after(source.sealedTo);
  }
}
