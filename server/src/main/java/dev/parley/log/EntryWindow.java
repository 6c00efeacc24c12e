package dev.parley.log;

import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The newest durable entries of a context, in memory: all entries after `base`.
///
/// Readers use a window without a lock, because its content never changes. The only writer creates
/// the next window, which may share arrays, since it only writes behind the end of this one.
final class EntryWindow {

  private static final StoredRun[] NONE = {};
  private static final int RUNS_MIN = 4;

  private final Position base;

  /// All runs but the last one, in `runs[from]` to `runs[to - 1]`.
  private final StoredRun[] runs;

  private final int from;
  private final int to;
  private final @Nullable StoredRun last;
  private final Position head;
  private final int size;
  private final long weight;

  private EntryWindow(
      Position base,
      StoredRun[] runs,
      int from,
      int to,
      @Nullable StoredRun last,
      int size,
      long weight) {
    this.base = base;
    this.runs = runs;
    this.from = from;
    this.to = to;
    this.last = last;
    this.head = last == null ? base : last.last();
    this.size = size;
    this.weight = weight;
  }

  static EntryWindow empty(Position base) {
    return new EntryWindow(base, NONE, 0, 0, null, 0, 0);
  }

  Position base() {
    return base;
  }

  Position head() {
    return head;
  }

  /// The approximate memory of the entries.
  long weight() {
    return weight;
  }

  /// All entries after `after`, which must not be before `base`.
  List<StoredRun> after(Position after) {
    var found = new ArrayList<StoredRun>();
    for (var i = to; i >= from; i--) {
      if (last == null || !run(i).last().after(after)) {
        break;
      }
      found.add(run(i));
    }
    if (!found.isEmpty()) {
      var first = found.getLast();
      found.set(found.size() - 1, first.part(indexAfter(first, after), first.size()));
    }
    return found.reversed();
  }

  /// The index of the first entry of a run after `after`. Only deltas, which are public and
  /// consecutive, share a run.
  private static int indexAfter(StoredRun run, Position after) {
    var first = run.last().seq() - run.size() + 1;
    return run.size() == 1 ? 0 : (int) Math.max(0, after.seq() - first + 1);
  }

  /// The window with `more` added. `join` permits that deltas become part of the last run.
  EntryWindow plus(List<StoredRun> more, boolean join) {
    var next = this;
    for (var run : more) {
      next = next.plus(run, join);
    }
    return next;
  }

  private EntryWindow plus(StoredRun more, boolean join) {
    var joined =
        join && last instanceof DeltaRun open && more instanceof DeltaRun deltas
            ? open.join(deltas)
            : null;
    var newSize = size + more.size();
    var newWeight = weight + more.weight();
    if (joined != null) {
      return new EntryWindow(base, runs, from, to, joined, newSize, newWeight);
    }
    if (last == null) {
      return new EntryWindow(base, NONE, 0, 0, more, newSize, newWeight);
    }
    var room =
        to < runs.length ? runs : Arrays.copyOfRange(runs, from, from + 2 * (to - from) + RUNS_MIN);
    var end = to < runs.length ? to : to - from;
    room[end] = last;
    return new EntryWindow(base, room, end - (to - from), end + 1, more, newSize, newWeight);
  }

  /// The window without its oldest runs, as long as it has more than `keep` entries or these weigh
  /// more than `keepWeight`. The last `needed` entries stay.
  EntryWindow trim(int needed, int keep, long keepWeight) {
    var left = size;
    var weightLeft = weight;
    var dropped = 0;
    while (left > needed && (left > keep || weightLeft > keepWeight)) {
      var run = run(from + dropped);
      if (left - run.size() < needed) {
        break;
      }
      left -= run.size();
      weightLeft -= run.weight();
      dropped++;
    }
    return without(dropped, left, weightLeft);
  }

  /// The window without the runs up to `position`.
  EntryWindow since(Position position) {
    var left = size;
    var weightLeft = weight;
    var dropped = 0;
    while (left > 0 && !run(from + dropped).last().after(position)) {
      left -= run(from + dropped).size();
      weightLeft -= run(from + dropped).weight();
      dropped++;
    }
    return without(dropped, left, weightLeft);
  }

  private EntryWindow without(int dropped, int newSize, long newWeight) {
    if (dropped == 0) {
      return this;
    }
    if (newSize == 0) {
      return empty(head);
    }
    var kept = Arrays.copyOfRange(runs, from + dropped, to);
    return new EntryWindow(
        run(from + dropped - 1).last(), kept, 0, kept.length, last, newSize, newWeight);
  }

  private StoredRun run(int index) {
    return index == to ? Objects.requireNonNull(last) : runs[index];
  }
}
