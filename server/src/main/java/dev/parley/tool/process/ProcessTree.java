package dev.parley.tool.process;

import dev.parley.tool.process.ProcessTable.Entry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/// A process of ours and what it started.
///
/// A process belongs to it that descends from `root`, or is in the session that `root` leads, or has
/// `marker` in its environment. The last two hold also for those whose parent has ended. What leaves
/// the session, drops its environment and outlives its parent is not found.
record ProcessTree(Entry root, String marker) {

  /// How long a process that is asked to end has for it. Shorter than what a canceled call has.
  private static final Duration GRACE = Duration.ofMillis(500);

  private static final Duration KILLING_MAX = Duration.ofSeconds(2);
  private static final Duration PAUSE = Duration.ofMillis(10);

  /// Those that live now.
  Collection<Entry> members(Map<Long, Entry> all) {
    var found = new HashMap<Long, Entry>();
    var leader = all.get(root.pid());
    // Somebody else's session may have got our number after all of ours had ended.
    var ourSession = leader == null || leader.start() == root.start();
    for (var entry : all.values()) {
      if (entry.pid() == root.pid()
          ? entry.start() == root.start()
          : (ourSession && entry.session() == root.pid()) || ProcessTable.marked(entry, marker)) {
        found.put(entry.pid(), entry);
      }
    }
    addDescendants(all, found);
    found.remove(ProcessHandle.current().pid());
    return found.values();
  }

  private static void addDescendants(Map<Long, Entry> all, Map<Long, Entry> found) {
    var children = new HashMap<Long, List<Entry>>();
    for (var entry : all.values()) {
      children.computeIfAbsent(entry.parent(), _ -> new ArrayList<>()).add(entry);
    }
    var next = new ArrayDeque<>(found.values());
    while (!next.isEmpty()) {
      for (var child : children.getOrDefault(next.remove().pid(), List.of())) {
        if (found.putIfAbsent(child.pid(), child) == null) {
          next.add(child);
        }
      }
    }
  }

  /// Asks all of these trees to end, and ends what does not: within a few seconds, come what may. An
  /// interrupt does not hurry it. False if something is still there, such as what waits for a disk.
  static boolean end(List<ProcessTree> trees) {
    var asked = living(trees);
    if (asked.isEmpty()) {
      return true;
    }
    asked.forEach(entry -> ProcessTable.signal(entry, false));
    var interrupted = await(GRACE, () -> asked.stream().noneMatch(ProcessTable::alive));
    // What is killed may have started another one just before.
    interrupted |=
        await(
            KILLING_MAX,
            () -> {
              var left = living(trees);
              left.forEach(entry -> ProcessTable.signal(entry, true));
              return left.isEmpty();
            });
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return living(trees).isEmpty();
  }

  private static List<Entry> living(List<ProcessTree> trees) {
    if (trees.isEmpty()) {
      return List.of();
    }
    var all = ProcessTable.now();
    return trees.stream().flatMap(tree -> tree.members(all).stream()).distinct().toList();
  }

  /// Returns once `done`, or when it took too long; true if somebody interrupted meanwhile.
  private static boolean await(Duration patience, BooleanSupplier done) {
    var interrupted = false;
    var end = System.nanoTime() + patience.toNanos();
    while (!done.getAsBoolean() && System.nanoTime() - end < 0) {
      try {
        Thread.sleep(PAUSE);
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    return interrupted;
  }
}
