package dev.parley.log;

import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One or more consecutive entries of a context, in the form in which the log keeps them in memory:
/// an entry of its own, or deltas of one block.
sealed interface StoredRun permits StoredEntry, DeltaRun {

  /// How many entries these are.
  int size();

  /// The position of the last entry.
  Position last();

  /// The entry at this index. `ids` creates the event ids of the context.
  StoredEntry entry(int index, ContextId context, EventIdGenerator ids);

  /// The entries from this index on, up to `to`, exclusive.
  StoredRun part(int from, int to);

  /// The approximate memory that these take, in bytes. The weight of a run is the sum of the weights
  /// of its parts.
  long weight();

  static long weight(List<? extends StoredRun> runs) {
    var weight = 0L;
    for (var run : runs) {
      weight += run.weight();
    }
    return weight;
  }

  static int size(List<? extends StoredRun> runs) {
    var size = 0;
    for (var run : runs) {
      size += run.size();
    }
    return size;
  }

  /// Joins consecutive deltas of a block.
  static List<StoredRun> of(List<StoredEntry> entries) {
    var runs = new Builder(entries.size());
    for (var storedEntry : entries) {
      var entry = storedEntry.entry();
      var millis = entry.timestamp().toEpochMilli();
      if (!runs.addDelta(entry.origin(), entry.event(), entry.position(), millis)) {
        runs.add(storedEntry);
      }
    }
    return runs.build();
  }

  /// Joins consecutive deltas of a block while entries are added. For one thread.
  final class Builder {
    private final List<StoredRun> runs = new ArrayList<>(1);
    private final int expected;
    private int size;
    private @Nullable DeltaRun open;

    /// @param expected how many entries will be added
    Builder(int expected) {
      this.expected = expected;
    }

    /// How many entries were added.
    int size() {
      return size;
    }

    /// Adds an event, if it is a delta that can be part of a run.
    boolean addDelta(@Nullable Origin origin, Event event, Position position, long millis) {
      if (!(event instanceof ContentDelta delta && DeltaRun.fits(delta))) {
        return false;
      }
      var run = open;
      if (run == null || !run.continuedBy(origin, delta)) {
        run = DeltaRun.begin(origin, delta, position.seq(), expected - size);
        runs.add(run);
        open = run;
      }
      run.add(delta.delta(), millis);
      size++;
      return true;
    }

    void add(StoredEntry storedEntry) {
      runs.add(storedEntry);
      open = null;
      size++;
    }

    List<StoredRun> build() {
      return runs;
    }
  }
}
