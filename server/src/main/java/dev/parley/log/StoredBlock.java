package dev.parley.log;

import java.util.Arrays;

/// A block that is stored: how many contexts need it, and which of its chunks are no longer needed
/// because their entries are in segments or their context is deleted.
///
/// There is one chunk for each append, so this keeps lists instead of sets, and nothing else for a
/// chunk. For the writer thread.
final class StoredBlock {

  final long id;
  final int bytes;

  private int needed;

  /// How many of the needing contexts are selected to be sealed, in which selection.
  private int leaving;

  private long selection;
  private long[] stale = {};
  private int staleSize;

  StoredBlock(long id, int bytes) {
    this.id = id;
    this.bytes = bytes;
  }

  /// Records that one more context has entries here that are not in segments.
  void need() {
    needed++;
  }

  /// How many contexts have entries here that are not in segments.
  int needed() {
    return needed;
  }

  /// Records that a context that needs this is selected to be sealed. True if no other context
  /// needs this, apart from those that are in the same selection.
  boolean leave(long selection) {
    leaving = this.selection == selection ? leaving + 1 : 1;
    this.selection = selection;
    return leaving == needed;
  }

  /// Records that a context has no entries here any more that are not in segments.
  void release() {
    needed--;
  }

  /// Records a chunk that is not needed, of the context with this number. True if it is the first.
  boolean addStale(long context) {
    if (staleSize == stale.length) {
      stale = Arrays.copyOf(stale, Math.max(4, 2 * staleSize));
    }
    stale[staleSize++] = context;
    return staleSize == 1;
  }

  /// True if there is a chunk of this context that is not needed.
  boolean hasStale(long context) {
    for (var i = 0; i < staleSize; i++) {
      if (stale[i] == context) {
        return true;
      }
    }
    return false;
  }

  /// Records that the chunks of this context were removed.
  void erased(long context) {
    var left = 0;
    for (var i = 0; i < staleSize; i++) {
      if (stale[i] != context) {
        stale[left++] = stale[i];
      }
    }
    staleSize = left;
  }
}
