package dev.parley.log;

import dev.parley.log.LogTuning.MemoryLimits;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/// Limits the memory of the windows of all contexts.
///
/// A window contains the unsealed entries, which [UnsealedBlocks] limits. While readers wait for a
/// context, its window also contains some sealed entries, for readers that are slightly behind.
/// This sealed part is limited for each context and for all contexts together. All methods except
/// [#bytes], [#addBytes] and [#trimToUnsealed] are for the writer thread.
final class WindowMemoryLimiter {

  private static final int LOOK_AT_LEAST = 2;

  private final int sealedEvents;
  private final MemoryLimits limits;
  private final AtomicLong bytes = new AtomicLong();

  /// Contexts whose windows may contain sealed entries, each once.
  private final ArrayDeque<CachedContext> holders = new ArrayDeque<>();

  WindowMemoryLimiter(LogTuning logTuning) {
    this.sealedEvents = logTuning.sealEvents();
    this.limits = logTuning.memory();
  }

  /// The approximate memory of all windows, in bytes.
  long bytes() {
    return bytes.get();
  }

  void addBytes(long change) {
    bytes.addAndGet(change);
  }

  /// Adds durable entries to a context's window. Call this before they are counted as unsealed.
  void add(CachedContext context, List<StoredRun> runs) {
    // Sealed and unsealed entries never share a run, so that the sealed ones can be dropped.
    var join = context.unsealedCount > 0;
    context.updateWindow(entryWindow -> entryWindow.plus(runs, join));
    trim(context, StoredRun.size(runs), StoredRun.weight(runs));
  }

  /// Drops the entries that were just sealed, except those that waiting readers may need.
  void sealed(CachedContext context) {
    trim(context, 0, 0);
  }

  /// Drops sealed entries that exceed the limits. `added` entries are not counted as unsealed yet.
  private void trim(CachedContext context, int added, long addedWeight) {
    if (!holdsSealed(context)) {
      return; // The usual case.
    }
    var waits = !context.waiters.isEmpty();
    var needed = context.unsealedCount + added;
    var keep = needed + (waits ? sealedEvents : 0);
    var keepWeight = context.unsealedWeight + addedWeight + (waits ? limits.windowBytes() : 0);
    context.updateWindow(entryWindow -> entryWindow.trim(needed, keep, keepWeight));
    if (holdsSealed(context) && !context.holdsSealed) {
      context.holdsSealed = true;
      holders.add(context);
    }
  }

  /// Drops sealed entries for which no reader waits, and others while there are too many.
  void sweep(int commitContexts, long unsealedWeight) {
    var looks = Math.min(holders.size(), LOOK_AT_LEAST + 2 * commitContexts);
    for (var i = 0; i < looks; i++) {
      var context = holders.remove();
      if (context.waiters.isEmpty() || !holdsSealed(context)) {
        release(context);
      } else {
        holders.add(context);
      }
    }
    while (bytes.get() - unsealedWeight > limits.windowsBytes() && !holders.isEmpty()) {
      release(holders.remove());
    }
  }

  private static void release(CachedContext context) {
    context.holdsSealed = false;
    trimToUnsealed(context);
  }

  /// Reduces a context's window to its unsealed entries. For any thread.
  static void trimToUnsealed(CachedContext context) {
    if (holdsSealed(context)) {
      context.updateWindow(entryWindow -> entryWindow.since(context.sealedTo));
    }
  }

  private static boolean holdsSealed(CachedContext context) {
    return context.sealedTo.after(context.window.base());
  }
}
