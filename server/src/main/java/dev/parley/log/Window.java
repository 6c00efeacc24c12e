package dev.parley.log;

import dev.parley.protocol.Position;
import java.util.Arrays;
import java.util.List;

/// The newest durable entries of a context, in memory: everything that follows `base`.
///
/// Readers take the window as it is and need no lock: what it covers never changes. The one writer
/// makes the next window, which may share the array, as it only writes behind the end of this one.
final class Window {

  private static final Slot[] NONE = {};

  private final Position base;
  private final Slot[] slots;
  private final int from;
  private final int to;

  private Window(Position base, Slot[] slots, int from, int to) {
    this.base = base;
    this.slots = slots;
    this.from = from;
    this.to = to;
  }

  static Window empty(Position base) {
    return new Window(base, NONE, 0, 0);
  }

  Position base() {
    return base;
  }

  private int size() {
    return to - from;
  }

  Position head() {
    return to == from ? base : slots[to - 1].entry().position();
  }

  /// Up to `limit` entries that follow `after`, which must not stand before `base`.
  List<Slot> after(Position after, int limit) {
    var begin = indexAfter(after);
    return Arrays.asList(Arrays.copyOfRange(slots, begin, begin + Math.min(to - begin, limit)));
  }

  /// The window with `more` behind it and at most `keep` entries from before it.
  Window plus(List<Slot> more, int keep) {
    var kept = Math.min(keep, size());
    var start = to - kept;
    var newBase = kept == size() ? base : slots[start - 1].entry().position();
    if (to + more.size() <= slots.length) {
      copy(more, slots, to);
      return new Window(newBase, slots, start, to + more.size());
    }
    var grown = new Slot[2 * (kept + more.size())];
    System.arraycopy(slots, start, grown, 0, kept);
    copy(more, grown, kept);
    return new Window(newBase, grown, 0, kept + more.size());
  }

  private static void copy(List<Slot> more, Slot[] target, int at) {
    var i = at;
    for (var slot : more) {
      target[i++] = slot;
    }
  }

  private int indexAfter(Position after) {
    var low = from;
    var high = to;
    while (low < high) {
      var middle = (low + high) >>> 1;
      if (slots[middle].entry().position().after(after)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
