package dev.parley.log;

import dev.parley.protocol.Position;
import java.util.Arrays;
import java.util.List;

/// The newest durable entries of a context, in memory: all entries after `base`.
///
/// Readers use a window without a lock, because its content never changes. The only writer creates
/// the next window, which may share the array, since it only writes behind the end of this one.
final class Window {

  private static final Slot[] NONE = {};

  private final Position base;
  private final Slot[] slots;
  private final int from;
  private final int to;
  private final long weight;
  private final long held;

  /// `weight` is the memory of the entries, and `held` that of all entries in the array up to the
  /// last one.
  private Window(Position base, Slot[] slots, int from, int to, long weight, long held) {
    this.base = base;
    this.slots = slots;
    this.from = from;
    this.to = to;
    this.weight = weight;
    this.held = held;
  }

  static Window empty(Position base) {
    return new Window(base, NONE, 0, 0, 0, 0);
  }

  Position base() {
    return base;
  }

  Position head() {
    return to == from ? base : slots[to - 1].entry().position();
  }

  /// The approximate memory that this takes: at most twice that of its entries.
  long held() {
    return held;
  }

  /// Up to `limit` entries after `after`, which must not be before `base`.
  List<Slot> after(Position after, int limit) {
    var begin = indexAfter(after);
    return Arrays.asList(Arrays.copyOfRange(slots, begin, begin + Math.min(to - begin, limit)));
  }

  /// The window with `more` added, and with at most `keep` entries and `keepWeight` of the existing
  /// ones.
  Window plus(List<Slot> more, int keep, long keepWeight) {
    var start = from;
    var kept = weight;
    while (start < to && (to - start > keep || kept > keepWeight)) {
      kept -= slots[start++].weight();
    }
    if (start == from && more.isEmpty()) {
      return this;
    }
    var added = Slot.weight(more);
    // Dropped entries stay in the array; they may not take more memory than the rest.
    if (to + more.size() <= slots.length && held - kept <= kept) {
      copy(more, slots, to);
      return new Window(baseAt(start), slots, start, to + more.size(), kept + added, held + added);
    }
    var size = to - start;
    var grown = new Slot[2 * (size + more.size())];
    System.arraycopy(slots, start, grown, 0, size);
    copy(more, grown, size);
    return new Window(baseAt(start), grown, 0, size + more.size(), kept + added, kept + added);
  }

  /// The window without the entries up to `position`.
  Window since(Position position) {
    var start = indexAfter(position);
    if (start == from) {
      return this;
    }
    var kept = Arrays.copyOfRange(slots, start, to);
    var keptWeight = Slot.weight(Arrays.asList(kept));
    return new Window(baseAt(start), kept, 0, kept.length, keptWeight, keptWeight);
  }

  private Position baseAt(int start) {
    return start == from ? base : slots[start - 1].entry().position();
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
