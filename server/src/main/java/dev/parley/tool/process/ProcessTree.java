package dev.parley.tool.process;

import dev.parley.tool.process.ProcessTable.Entry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/// A process of ours and what it started.
///
/// A process belongs to it that descends from `root`, or is in the session that `root` leads, or has
/// `marker` in its environment. The last two hold also for those whose parent has ended. What leaves
/// the session, drops its environment and outlives its parent is not found; where [Orphans] are adopted,
/// [Children#close] ends it.
record ProcessTree(Entry root, String marker) {

  private static final Duration KILLING_MAX = Duration.ofSeconds(2);
  private static final Duration PAUSE_MIN = Duration.ofMillis(10);
  private static final Duration PAUSE_MAX = Duration.ofMillis(80);

  /// Those that live now.
  Collection<Entry> members(Looks.Look look) {
    var all = look.all();
    var found = new HashMap<Long, Entry>();
    var leader = all.get(root.pid());
    // Somebody else's session may have got our number after all of ours had ended.
    var ourSession = leader == null || leader.start() == root.start();
    for (var entry : all.values()) {
      if (entry.pid() == root.pid()
          ? entry.start() == root.start()
          : (ourSession && entry.session() == root.pid())
              || (adopted(entry, all) && look.marked(entry, marker))) {
        found.put(entry.pid(), entry);
      }
    }
    addDescendants(look, found);
    found.remove(ProcessHandle.current().pid());
    return found.values();
  }

  /// True if it may be one of ours whose parent has ended: then an older process, which was there before
  /// the root, is its parent now. That may be this process. Looking into the environment of all others would cost most.
  private boolean adopted(Entry entry, Map<Long, Entry> all) {
    var parent = all.get(entry.parent());
    return entry.start() >= root.start()
        && (parent == null || root.start() < 0 || parent.start() <= root.start());
  }

  private static void addDescendants(Looks.Look look, Map<Long, Entry> found) {
    var next = new ArrayDeque<>(found.values());
    while (!next.isEmpty()) {
      for (var child : look.children().getOrDefault(next.remove().pid(), List.of())) {
        if (found.putIfAbsent(child.pid(), child) == null) {
          next.add(child);
        }
      }
    }
  }

  /// Asks all of these trees to end, and ends what does not: within a few seconds, come what may. An
  /// interrupt does not hurry it. False if something is still there, such as what waits for a disk.
  static boolean end(List<ProcessTree> trees, Looks looks) {
    var asked = living(trees, looks);
    if (asked.isEmpty()) {
      return true;
    }
    asked.forEach(entry -> ProcessTable.signal(entry, false));
    var interrupted = new AtomicBoolean();
    await(Child.GRACE, () -> asked.stream().noneMatch(ProcessTable::alive), interrupted);
    // What is killed may have started another one just before.
    var gone =
        await(
            KILLING_MAX,
            () -> {
              var left = living(trees, looks);
              left.forEach(entry -> ProcessTable.signal(entry, true));
              return left.isEmpty();
            },
            interrupted);
    if (interrupted.get()) {
      Thread.currentThread().interrupt();
    }
    return gone;
  }

  private static List<Entry> living(List<ProcessTree> trees, Looks looks) {
    if (trees.isEmpty()) {
      return List.of();
    }
    var look = looks.now();
    return trees.stream().flatMap(tree -> tree.members(look).stream()).distinct().toList();
  }

  /// Waits until it is `done`, and notes whether somebody interrupted. False if it took too long.
  private static boolean await(Duration patience, BooleanSupplier done, AtomicBoolean interrupted) {
    var end = System.nanoTime() + patience.toNanos();
    var pause = PAUSE_MIN;
    while (!done.getAsBoolean()) {
      if (System.nanoTime() - end >= 0) {
        return false;
      }
      try {
        Thread.sleep(pause);
        // Many may be waited for at once, and each look costs time that they need to end.
        pause = pause.compareTo(PAUSE_MAX) < 0 ? pause.multipliedBy(2) : pause;
      } catch (InterruptedException later) {
        interrupted.set(true);
      }
    }
    return true;
  }
}
