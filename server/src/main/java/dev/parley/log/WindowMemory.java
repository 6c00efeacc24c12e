package dev.parley.log;

import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/// Bounds what the windows of all contexts hold.
///
/// A window holds what is unsealed, which [Unsealed] bounds. While somebody waits for a context, its
/// window also holds some sealed entries, for readers that are a little behind: the sealed part is
/// bounded per context and for all contexts together. All but [#bytes], [#count] and [#cut] are for
/// the writer's thread.
final class WindowMemory {

  private static final int LOOK_AT_LEAST = 2;

  private final int sealedEvents;
  private final MemoryLimits limits;
  private final AtomicLong bytes = new AtomicLong();

  /// Contexts whose windows may hold sealed entries, each once.
  private final ArrayDeque<LiveContext> holders = new ArrayDeque<>();

  WindowMemory(Tuning tuning) {
    this.sealedEvents = tuning.sealEvents();
    this.limits = tuning.memory();
  }

  /// About how many bytes all windows hold.
  long bytes() {
    return bytes.get();
  }

  void count(long change) {
    bytes.addAndGet(change);
  }

  /// Adds durable entries to a context's window. To be called before they count as unsealed.
  void add(LiveContext context, List<Slot> slots) {
    var waits = !context.waiters.isEmpty();
    var keep = context.unsealedCount + (waits ? sealedEvents : 0);
    var keepBytes = context.unsealedWeight + (waits ? limits.windowBytes() : 0);
    context.updateWindow(window -> window.plus(slots, keep, keepBytes));
    if (holdsSealed(context) && !context.holdsSealed) {
      context.holdsSealed = true;
      holders.add(context);
    }
  }

  /// Lets go of what was just sealed, but for what readers may want.
  void sealed(LiveContext context) {
    add(context, List.of());
  }

  /// Lets go of sealed entries that nobody waits behind, and of others while there are too many.
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

  private static void release(LiveContext context) {
    context.holdsSealed = false;
    cut(context);
  }

  /// Cuts a context's window to what is unsealed. For any thread.
  static void cut(LiveContext context) {
    if (holdsSealed(context)) {
      context.updateWindow(window -> window.since(context.sealedTo));
    }
  }

  private static boolean holdsSealed(LiveContext context) {
    return context.sealedTo.after(context.window.base());
  }
}
