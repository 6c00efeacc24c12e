package dev.parley.api.agents;

import dev.parley.log.EventLog;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

/// Finds the entries of a task that precede one of its entries in the log.
final class PrecedingTaskEntries {

  private static final int PAGE = 256;

  /// How many public events to go back at most. The wanted entries are usually in the same append.
  private static final long DISTANCE_MAX = 1_024;

  private final EventLog log;

  PrecedingTaskEntries(EventLog log) {
    this.log = log;
  }

  /// The last entries of the same task before `entry` that `wanted` accepts, oldest first: those
  /// after the last one that `boundary` accepts, and at most `max`.
  List<Entry> find(Entry entry, Predicate<Entry> wanted, Predicate<Entry> boundary, int max) {
    var found = new ArrayList<Entry>();
    for (var distance = 0L; ; distance = distance == 0 ? 1 : distance * 4) {
      var start = start(entry.position(), distance, max);
      var bounded = false;
      found.clear();
      for (var earlier : between(start, entry)) {
        if (boundary.test(earlier)) {
          bounded = true;
          found.clear();
        } else if (wanted.test(earlier)) {
          found.add(earlier);
        }
      }
      if (bounded
          || found.size() >= max
          || start.equals(Position.START)
          || distance >= DISTANCE_MAX) {
        return List.copyOf(found.subList(Math.max(0, found.size() - max), found.size()));
      }
    }
  }

  /// A position this many public events before another one. The first attempt reads only internal
  /// events, of which there can be many.
  private static Position start(Position position, long distance, int max) {
    if (distance == 0 && position.k() > max) {
      return new Position(position.seq(), position.k() - max - 1);
    }
    var seq = position.seq() - 1 - distance;
    return seq < 0 ? Position.START : new Position(seq, Integer.MAX_VALUE);
  }

  /// The entries of the same task after `start` and before `entry`.
  private List<Entry> between(Position start, Entry entry) {
    var entries = new ArrayList<Entry>();
    var position = start;
    while (true) {
      var page = log.read(entry.contextId(), position, PAGE);
      for (var earlier : page) {
        position = earlier.position();
        if (!entry.position().after(position)) {
          return entries;
        }
        if (Objects.equals(earlier.taskId(), entry.taskId())) {
          entries.add(earlier);
        }
      }
      if (page.isEmpty()) {
        return entries;
      }
    }
  }
}
