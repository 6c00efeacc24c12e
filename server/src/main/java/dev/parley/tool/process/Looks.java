package dev.parley.tool.process;

import dev.parley.tool.process.ProcessTable.Entry;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/// Looks at all processes, for many at once: who asks while somebody looks shares the next look with all
/// others who wait. To end fifty trees of processes then takes a few looks, not fifty times a few.
///
/// Its lock guards who looks, and what was seen last.
final class Looks {

  private static final String NAME = "\0" + Children.MARKER + "=";

  /// What was seen: every process, those that it started, and, once somebody asked, its mark.
  ///
  /// Many ask the same look about many trees, so each thing is found out once.
  record Look(
      Map<Long, Entry> all, Map<Long, List<Entry>> children, Map<Long, Optional<String>> marks) {

    static Look at(Map<Long, Entry> all) {
      var children =
          all.values().stream().collect(Collectors.groupingBy(Entry::parent, Collectors.toList()));
      return new Look(all, children, new ConcurrentHashMap<>());
    }

    /// True if the process was started with this mark, `NAME=value`, in its environment.
    boolean marked(Entry entry, String mark) {
      return marks.computeIfAbsent(entry.pid(), _ -> mark(entry)).filter(mark::equals).isPresent();
    }

    /// The mark, `NAME=value`, in the environment that the process was started with, if there is one.
    static Optional<String> mark(Entry entry) {
      var environment = ProcessTable.environment(entry);
      var begin = environment.indexOf(NAME) + 1;
      var end = environment.indexOf('\0', begin);
      return begin == 0 || end < 0
          ? Optional.empty()
          : Optional.of(environment.substring(begin, end));
    }
  }

  private long begun;
  private long done;
  private boolean looking;
  private Look last = Look.at(Map.of());

  /// How things are now, or were a moment ago, but not before this was called. An interrupt does not
  /// hurry it, and is kept.
  Look now() {
    var interrupted = false;
    try {
      synchronized (this) {
        var wanted = begun + 1;
        while (done < wanted && looking) {
          try {
            wait();
          } catch (InterruptedException later) {
            interrupted = true;
          }
        }
        if (done >= wanted) {
          return last;
        }
        looking = true;
        begun++;
      }
      return look();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private Look look() {
    Look seen = null;
    try {
      seen = Look.at(ProcessTable.now());
      return seen;
    } finally {
      synchronized (this) {
        looking = false;
        if (seen != null) {
          last = seen;
          done = begun;
        }
        notifyAll();
      }
    }
  }
}
