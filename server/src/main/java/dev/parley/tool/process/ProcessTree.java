package dev.parley.tool.process;

import dev.parley.tool.process.ProcessTable.ProcessInfo;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/// A process and all its descendants.
///
/// A process belongs to the tree if it descends from `root`, is in the session of `root`, or has
/// `marker` in its environment. The last two also apply to processes whose parent has ended. A
/// process that leaves the session, clears its environment and outlives its parent is not found; if
/// [OrphanReaper] are adopted, [ManagedProcesses#close] stops it.
record ProcessTree(ProcessInfo root, String marker) {

  private static final Duration KILLING_MAX = Duration.ofSeconds(2);
  private static final Duration PAUSE_MIN = Duration.ofMillis(10);
  private static final Duration PAUSE_MAX = Duration.ofMillis(80);

  /// The running processes of the tree.
  Collection<ProcessInfo> members(ProcessSnapshots.ProcessSnapshot processSnapshot) {
    var all = processSnapshot.all();
    var found = new HashMap<Long, ProcessInfo>();
    var leader = all.get(root.pid());
    // The id may have been reused as a session after all processes of this tree had ended.
    var ourSession = leader == null || leader.start() == root.start();
    for (var processInfo : all.values()) {
      if (processInfo.pid() == root.pid()
          ? processInfo.start() == root.start()
          : (ourSession && processInfo.session() == root.pid())
              || (adopted(processInfo, all) && processSnapshot.marked(processInfo, marker))) {
        found.put(processInfo.pid(), processInfo);
      }
    }
    addDescendants(processSnapshot, found);
    found.remove(ProcessHandle.current().pid());
    return found.values();
  }

  /// True if the process may be an orphan of this tree: then its parent is an older process, which
  /// started before the root, possibly this one. This avoids reading the environment of all other
  /// processes, which is expensive.
  private boolean adopted(ProcessInfo processInfo, Map<Long, ProcessInfo> all) {
    var parent = all.get(processInfo.parent());
    return processInfo.start() >= root.start()
        && (parent == null || root.start() < 0 || parent.start() <= root.start());
  }

  private static void addDescendants(
      ProcessSnapshots.ProcessSnapshot processSnapshot, Map<Long, ProcessInfo> found) {
    var next = new ArrayDeque<>(found.values());
    while (!next.isEmpty()) {
      for (var child : processSnapshot.children().getOrDefault(next.remove().pid(), List.of())) {
        if (found.putIfAbsent(child.pid(), child) == null) {
          next.add(child);
        }
      }
    }
  }

  /// Asks all processes of these trees to end, and kills those that do not, within a few seconds.
  /// An interrupt does not shorten this. False if a process is still running, for instance because
  /// it waits for a disk.
  static boolean end(List<ProcessTree> trees, ProcessSnapshots processSnapshots) {
    var asked = living(trees, processSnapshots);
    if (asked.isEmpty()) {
      return true;
    }
    asked.forEach(processInfo -> ProcessTable.signal(processInfo, false));
    var interrupted = new AtomicBoolean();
    await(ManagedProcess.GRACE, () -> asked.stream().noneMatch(ProcessTable::alive), interrupted);
    // A process may have started another one just before it was killed.
    var gone =
        await(
            KILLING_MAX,
            () -> {
              var left = living(trees, processSnapshots);
              left.forEach(processInfo -> ProcessTable.signal(processInfo, true));
              return left.isEmpty();
            },
            interrupted);
    if (interrupted.get()) {
      Thread.currentThread().interrupt();
    }
    return gone;
  }

  private static List<ProcessInfo> living(
      List<ProcessTree> trees, ProcessSnapshots processSnapshots) {
    if (trees.isEmpty()) {
      return List.of();
    }
    var processSnapshot = processSnapshots.now();
    return trees.stream()
        .flatMap(tree -> tree.members(processSnapshot).stream())
        .distinct()
        .toList();
  }

  /// Waits until `done` is true, and records interrupts. False if it took too long.
  private static boolean await(Duration patience, BooleanSupplier done, AtomicBoolean interrupted) {
    var end = System.nanoTime() + patience.toNanos();
    var pause = PAUSE_MIN;
    while (!done.getAsBoolean()) {
      if (System.nanoTime() - end >= 0) {
        return false;
      }
      try {
        Thread.sleep(pause);
        // Many callers may wait at once, and each snapshot uses CPU time that the processes need to
        // end.
        pause = pause.compareTo(PAUSE_MAX) < 0 ? pause.multipliedBy(2) : pause;
      } catch (InterruptedException later) {
        interrupted.set(true);
      }
    }
    return true;
  }
}
