package dev.parley.door.contexts.workflow;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Finds facts about an entry's task tree in the log before it.
///
/// It caches recently used trees. A thread removes a tree from the cache while it uses it, so that
/// threads do not wait for each other; the monitor guards `cached`. For many threads.
final class Trees {

  private static final int KEPT_MAX = 64;
  private static final int READ = 1024;

  private final EventLog log;
  private final Beginnings beginnings;
  private final Map<Key, Tree> kept = new LinkedHashMap<>(16, 0.75f, true);

  /// Finds where tasks start.
  @FunctionalInterface
  interface Beginnings {

    /// A position before the `task-created` of a task that had started by `at`, as close as
    /// possible.
    Position before(ContextId context, TaskId task, Position at);
  }

  private record Key(ContextId context, TaskId root) {}

  Trees(EventLog log, Beginnings beginnings) {
    this.log = log;
    this.beginnings = beginnings;
  }

  /// The path from the root to the parent of the entry's task.
  List<TaskId> path(Entry entry) {
    var origin = entry.origin();
    var parent = origin == null ? null : origin.parentTaskId();
    if (origin == null || parent == null) {
      return List.of();
    }
    if (parent.equals(origin.rootTaskId())) {
      return List.of(parent);
    }
    var key = new Key(entry.contextId(), origin.rootTaskId());
    var tree = take(key, entry);
    var path = tree.path(parent);
    if (path.isEmpty()) {
      extend(tree, entry);
      path = tree.path(parent);
    }
    keep(key, tree);
    return path.orElse(List.of(origin.rootTaskId(), parent));
  }

  /// The status of the batch that an entry of a parent reports.
  Optional<Batch.Status> told(Entry entry) {
    var origin = entry.origin();
    if (origin == null) {
      return Optional.empty();
    }
    var key = new Key(entry.contextId(), origin.rootTaskId());
    var tree = take(key, entry);
    extend(tree, entry);
    var status = tree.told(entry.position());
    keep(key, tree);
    return status;
  }

  /// The metadata of sub-agents at the start of the call that this entry ends.
  @Nullable SubagentMetadata announced(Entry entry, ToolCallId call) {
    var origin = entry.origin();
    if (origin == null) {
      return null;
    }
    var key = new Key(entry.contextId(), origin.rootTaskId());
    var tree = take(key, entry);
    extend(tree, entry);
    var announced = tree.announced(origin.taskId(), call);
    keep(key, tree);
    return announced;
  }

  private Tree take(Key key, Entry entry) {
    Tree tree;
    synchronized (this) {
      tree = kept.remove(key);
    }
    if (tree != null) {
      return tree;
    }
    return new Tree(key.root(), beginnings.before(key.context(), key.root(), entry.position()));
  }

  private synchronized void keep(Key key, Tree tree) {
    kept.put(key, tree);
    if (kept.size() > KEPT_MAX) {
      kept.remove(kept.keySet().iterator().next());
    }
  }

  /// Reads the log until the tree includes the entry.
  private void extend(Tree tree, Entry entry) {
    while (entry.position().after(tree.upTo())) {
      var next = log.read(entry.contextId(), tree.upTo(), READ);
      if (next.isEmpty()) {
        return;
      }
      for (var read : next) {
        if (read.position().after(entry.position())) {
          return;
        }
        tree.add(read);
      }
    }
  }
}
