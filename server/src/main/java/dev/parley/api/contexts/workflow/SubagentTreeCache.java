package dev.parley.api.contexts.workflow;

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

  SubagentTreeCache(EventLog log, TaskStartLookup taskStartLookup) {
    this.log = log;
    this.taskStarts = taskStartLookup;
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
    var subagentTree = takeOut(key, entry);
    var path = subagentTree.path(parent);
    if (path.isEmpty()) {
      extend(subagentTree, entry);
      path = subagentTree.path(parent);
    }
    putBack(key, subagentTree);
    return path.orElse(List.of(origin.rootTaskId(), parent));
  }

  /// The status of the batch that an entry of a parent reports.
  Optional<SubagentBatch.BatchStatus> batchStatus(Entry entry) {
    var origin = entry.origin();
    if (origin == null) {
      return Optional.empty();
    }
    var key = new Key(entry.contextId(), origin.rootTaskId());
    var subagentTree = takeOut(key, entry);
    extend(subagentTree, entry);
    var status = subagentTree.batchStatus(entry.position());
    putBack(key, subagentTree);
    return status;
  }

  /// The metadata of sub-agents at the start of the call that this entry ends.
  @Nullable SubagentMetadata announced(Entry entry, ToolCallId call) {
    var origin = entry.origin();
    if (origin == null) {
      return null;
    }
    var key = new Key(entry.contextId(), origin.rootTaskId());
    var subagentTree = takeOut(key, entry);
    extend(subagentTree, entry);
    var announced = subagentTree.announced(origin.taskId(), call);
    putBack(key, subagentTree);
    return announced;
  }

  private SubagentTree takeOut(Key key, Entry entry) {
    SubagentTree subagentTree;
    synchronized (this) {
      subagentTree = cached.remove(key);
    }
    if (subagentTree != null) {
      return subagentTree;
    }
    return new SubagentTree(
        key.root(), taskStarts.before(key.context(), key.root(), entry.position()));
  }

  private synchronized void putBack(Key key, SubagentTree subagentTree) {
    cached.put(key, subagentTree);
    if (cached.size() > KEPT_MAX) {
      cached.remove(cached.keySet().iterator().next());
    }
  }

  /// Reads the log until the tree includes the entry.
  private void extend(SubagentTree subagentTree, Entry entry) {
    while (entry.position().after(subagentTree.upTo())) {
      var next = log.read(entry.contextId(), subagentTree.upTo(), READ);
      if (next.isEmpty()) {
        return;
      }
      for (var read : next) {
        if (read.position().after(entry.position())) {
          return;
        }
        subagentTree.add(read);
      }
    }
  }
}
