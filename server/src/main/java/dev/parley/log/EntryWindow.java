package dev.parley.log;

import dev.parley.protocol.Position;
import java.util.Arrays;
import java.util.List;

/// The newest durable entries of a context, in memory: all entries after `base`.
///
/// Readers use a window without a lock, because its content never changes. The only writer creates
/// the next window, which may share the array, since it only writes behind the end of this one.
final class EntryWindow {

  private static final StoredEntry[] NONE = {};

  private final Position base;
  private final StoredEntry[] entries;
  private final int from;
  private final int to;
  private final long weight;
  private final long held;

  /// `weight` is the memory of the entries, and `held` that of all entries in the array up to the
  /// last one.
  private EntryWindow(
      Position base, StoredEntry[] slots, int from, int to, long weight, long held) {
    this.base = base;
    this.entries = slots;
    this.from = from;
    this.to = to;
    this.weight = weight;
    this.held = held;
  }

  static EntryWindow empty(Position base) {
    return new EntryWindow(base, NONE, 0, 0, 0, 0);
  }

  Position base() {
    return base;
  }

  Position head() {
    return to == from ? base : entries[to - 1].entry().position();
  }

  /// The approximate memory that this takes: at most twice that of its entries.
  long held() {
    return held;
  }

  /// Up to `limit` entries after `after`, which must not be before `base`.
  List<StoredEntry> after(Position after, int limit) {
    var begin = indexAfter(after);
    return Arrays.asList(Arrays.copyOfRange(entries, begin, begin + Math.min(to - begin, limit)));
  }

  /// The window with `more` added, and with at most `keep` entries and `keepWeight` of the existing
  /// ones.
  EntryWindow plus(List<StoredEntry> more, int keep, long keepWeight) {
    var start = from;
    var kept = weight;
    while (start < to && (to - start > keep || kept > keepWeight)) {
      kept -= entries[start++].weight();
    }
    if (start == from && more.isEmpty()) {
      return this;
    }
    var added = StoredEntry.weight(more);
    // Dropped entries stay in the array; they may not take more memory than the rest.
    if (to + more.size() <= entries.length && held - kept <= kept) {
      copy(more, entries, to);
      return new EntryWindow(
          baseAt(start), entries, start, to + more.size(), kept + added, held + added);
    }
    var size = to - start;
    var grown = new StoredEntry[2 * (size + more.size())];
    System.arraycopy(entries, start, grown, 0, size);
    copy(more, grown, size);
    return new EntryWindow(baseAt(start), grown, 0, size + more.size(), kept + added, kept + added);
  }

  /// The window without the entries up to `position`.
  EntryWindow since(Position position) {
    var start = indexAfter(position);
    if (start == from) {
      return this;
    }
    var kept = Arrays.copyOfRange(entries, start, to);
    var keptWeight = StoredEntry.weight(Arrays.asList(kept));
    return new EntryWindow(baseAt(start), kept, 0, kept.length, keptWeight, keptWeight);
  }

  private Position baseAt(int start) {
    return start == from ? base : entries[start - 1].entry().position();
  }

  private static void copy(List<StoredEntry> more, StoredEntry[] target, int at) {
    var i = at;
    for (var storedEntry : more) {
      target[i++] = storedEntry;
    }
  }

  private int indexAfter(Position after) {
    var low = from;
    var high = to;
    while (low < high) {
      var middle = (low + high) >>> 1;
      if (entries[middle].entry().position().after(after)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
