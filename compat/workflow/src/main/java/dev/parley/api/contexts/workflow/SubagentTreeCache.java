package dev.parley.api.contexts.workflow;

import dev.parley.api.contexts.workflow.SubagentTree.BatchStatus;
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
import java.util.function.Function;

/// Finds facts about an entry's task tree in the log before it.
///
/// It caches recently used trees. A thread removes a tree from the cache while it uses it, so that
/// threads do not wait for each other; the monitor guards `cached`. For many threads.
final class SubagentTreeCache {

  private static final int KEPT_MAX = 64;
  private static final int READ = 1024;

  private final EventLog log;
  private final TaskStartLookup taskStarts;
  private final Map<Key, SubagentTree> cached = new LinkedHashMap<>(16, 0.75f, true);

  /// Finds where tasks start.
  @FunctionalInterface
  interface TaskStartLookup {

    /// A position before the `task-created` of a task that had started by `at`, as close as
    /// possible.
    Position before(ContextId context, TaskId task, Position at);
  }

  private record Key(ContextId context, TaskId root) {}

  SubagentTreeCache(EventLog log, TaskStartLookup starts) {
    this.log = log;
    this.taskStarts = starts;
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
    return find(entry, tree -> tree.path(origin)).orElse(List.of(origin.rootTaskId(), parent));
  }

  /// The status of the batch that an entry of a parent reports.
  Optional<BatchStatus> batchStatus(Entry entry) {
    return find(entry, tree -> tree.batchStatus(entry.position()));
  }

  /// The metadata of sub-agents at the start of the call that this entry ends.
  Optional<SubagentMetadata> announced(Entry entry, ToolCallId call) {
    var task = entry.taskId();
    if (task == null) {
      return Optional.empty();
    }
    return find(
        entry,
        tree -> {
          extend(tree, entry); // The call may have started again since.
          return tree.announced(task, call);
        });
  }

  /// Finds a fact in the tree of the entry's task, which is read up to the entry if it does not have
  /// the fact yet.
  private <T> Optional<T> find(Entry entry, Function<SubagentTree, Optional<T>> fact) {
    var origin = entry.origin();
    if (origin == null) {
      return Optional.empty();
    }
    var key = new Key(entry.contextId(), origin.rootTaskId());
    var tree = takeOut(key, entry);
    var found = fact.apply(tree);
    if (found.isEmpty()) {
      extend(tree, entry);
      found = fact.apply(tree);
    }
    putBack(key, tree);
    return found;
  }

  private SubagentTree takeOut(Key key, Entry entry) {
    SubagentTree tree;
    synchronized (this) {
      tree = cached.remove(key);
    }
    if (tree != null) {
      return tree;
    }
    return new SubagentTree(
        key.root(), taskStarts.before(key.context(), key.root(), entry.position()));
  }

  private synchronized void putBack(Key key, SubagentTree tree) {
    cached.put(key, tree);
    if (cached.size() > KEPT_MAX) {
      cached.remove(cached.keySet().iterator().next());
    }
  }

  /// Reads the log until the tree includes the entry.
  private void extend(SubagentTree tree, Entry entry) {
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
