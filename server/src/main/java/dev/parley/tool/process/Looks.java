package dev.parley.tool.process;

import dev.parley.tool.process.ProcessTable.Entry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Looks at all processes, for many at once: who asks while somebody looks shares the next look with all
/// others who wait. To end fifty trees of processes then takes a few looks, not fifty times a few.
///
/// Its lock guards who looks, and what was seen last.
final class Looks {

  /// What was seen: every process, and, once somebody asked, its environment.
  record Look(Map<Long, Entry> all, Map<Entry, String> environments) {

    /// True if the process was started with this setting, `NAME=value`, in its environment.
    boolean marked(Entry entry, String setting) {
      return environments
          .computeIfAbsent(entry, ProcessTable::environment)
          .contains("\0" + setting + "\0");
    }
  }

  private long begun;
  private long done;
  private boolean looking;
  private Look last = new Look(Map.of(), new ConcurrentHashMap<>());

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
      seen = new Look(ProcessTable.now(), new ConcurrentHashMap<>());
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
