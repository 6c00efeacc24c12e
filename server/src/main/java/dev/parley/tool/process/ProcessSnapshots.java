package dev.parley.tool.process;

import dev.parley.tool.process.ProcessTable.ProcessInfo;
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
final class ProcessSnapshots {

  private static final String NAME = "\0" + ManagedProcesses.MARKER + "=";

  /// A snapshot: every process, its children, and its mark, once that was requested.
  ///
  /// Many trees use the same snapshot, so each mark is read once.
  record ProcessSnapshot(
      Map<Long, ProcessInfo> all,
      Map<Long, List<ProcessInfo>> children,
      Map<Long, Optional<String>> marks) {

    static ProcessSnapshot of(Map<Long, ProcessInfo> all) {
      var children =
          all.values().stream()
              .collect(Collectors.groupingBy(ProcessInfo::parent, Collectors.toList()));
      return new ProcessSnapshot(all, children, new ConcurrentHashMap<>());
    }

    /// True if the process was started with this mark, `NAME=value`, in its environment.
    boolean marked(ProcessInfo processInfo, String mark) {
      return marks
          .computeIfAbsent(processInfo.pid(), _ -> mark(processInfo))
          .filter(mark::equals)
          .isPresent();
    }

    /// The mark, `NAME=value`, in the initial environment of the process, if there is one.
    static Optional<String> mark(ProcessInfo processInfo) {
      var environment = ProcessTable.environment(processInfo);
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
  private ProcessSnapshot last = ProcessSnapshot.of(Map.of());

  /// A snapshot that was started after this method was called. An interrupt does not shorten the
  /// wait, and is kept.
  ProcessSnapshot now() {
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
      return takeSnapshot();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private ProcessSnapshot takeSnapshot() {
    ProcessSnapshot seen = null;
    try {
      seen = ProcessSnapshot.of(ProcessTable.snapshot());
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
