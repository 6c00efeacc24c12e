package dev.parley.projection;

import dev.parley.log.EventLog;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/// Finds entries that precede an entry in the log, for encoders whose output depends on them. The
/// wanted entries are usually in the same append, so the search goes back in growing steps.
public final class PrecedingEntries {

  private static final int PAGE = 256;

  /// How many public events [#find] goes back at most.
  private static final long DISTANCE_MAX = 1_024;

  private final EventLog log;

  public PrecedingEntries(EventLog log) {
    this.log = log;
  }

  /// The last entry before `entry` that `wanted` accepts, at most this many public events back.
  public Optional<Entry> last(Entry entry, long distanceMax, Predicate<Entry> wanted) {
    return search(entry, wanted, _ -> false, 1, distanceMax).stream().findFirst();
  }

  /// The last entry of the same task before `entry` that `wanted` accepts, at most this many public
  /// events back.
  public Optional<Entry> lastOfTask(Entry entry, long distanceMax, Predicate<Entry> wanted) {
    return last(entry, distanceMax, sameTask(entry).and(wanted));
  }

  /// The last entries of the same task before `entry` that `wanted` accepts, oldest first: those
  /// after the last one that `boundary` accepts, and at most `max`.
  public List<Entry> find(
      Entry entry, Predicate<Entry> wanted, Predicate<Entry> boundary, int max) {
    var same = sameTask(entry);
    return search(entry, same.and(wanted), same.and(boundary), max, DISTANCE_MAX);
  }

  private static Predicate<Entry> sameTask(Entry entry) {
    return earlier -> entry.taskId() != null && entry.taskId().equals(earlier.taskId());
  }

  private List<Entry> search(
      Entry entry, Predicate<Entry> wanted, Predicate<Entry> boundary, int max, long distanceMax) {
    for (var distance = 0L; ; distance = Math.min(distanceMax, distance == 0 ? 1 : distance * 4)) {
      var start = start(entry.position(), distance, max);
      var found = new ArrayDeque<Entry>();
      var bounded = false;
      for (var earlier = next(entry, start); !earlier.isEmpty(); ) {
        for (var one : earlier) {
          if (boundary.test(one)) {
            bounded = true;
            found.clear();
          } else if (wanted.test(one)) {
            found.addLast(one);
            if (found.size() > max) {
              found.removeFirst();
            }
          }
        }
        earlier = next(entry, earlier.getLast().position());
      }
      if (bounded
          || found.size() >= max
          || start.equals(Position.START)
          || distance >= distanceMax) {
        return List.copyOf(found);
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

  /// The next entries after a position that are before `entry`.
  private List<Entry> next(Entry entry, Position after) {
    return log.read(entry.contextId(), after, PAGE).stream()
        .takeWhile(earlier -> entry.position().after(earlier.position()))
        .toList();
  }
}
