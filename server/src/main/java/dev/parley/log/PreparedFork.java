package dev.parley.log;

import dev.parley.protocol.Position;
import java.util.List;

/// The start of a fork: the ranges that it shares, and the state and time of the last shared entry.
///
/// `state` is not changed any more.
record PreparedFork(
    CachedContext source, List<SharedRange> sharedRanges, ContextState state, long millis)
    implements PendingAppend.AppendExtra {

  /// The last shared position.
  Position cut() {
    return state.head();
  }

  /// True if some shared entries are not in segments yet. For the writer thread.
  boolean needsSealing() {
    return cut().after(source.sealedTo);
  }
}
