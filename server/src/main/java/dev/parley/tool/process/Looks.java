package dev.parley.tool.process;

import dev.parley.tool.process.ProcessTable.Entry;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/// Takes snapshots of all processes and shares them: callers that ask while a snapshot is taken
/// share the next one. So stopping fifty process trees takes a few snapshots, not fifty times a
/// few.
///
/// The lock guards which thread takes a snapshot, and the last snapshot.
final class Looks {

  private static final String NAME = "\0" + Children.MARKER + "=";

  /// A snapshot: every process, its children, and its mark, once that was requested.
  ///
  /// Many trees use the same snapshot, so each mark is read once.
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

    /// The mark, `NAME=value`, in the initial environment of the process, if there is one.
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

  /// A snapshot that was started after this method was called. An interrupt does not shorten the
  /// wait, and is kept.
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
