package dev.parley.door.contexts.workflow;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A fold of the log for one root task and its descendants, up to a position. For one thread.
///
/// It stores the status of batches for every event that reports one, so a tree that has read
/// further still has the earlier status.
final class Tree {

  private final TaskId root;
  private final Map<TaskId, TaskId> parents = new HashMap<>();
  private final Map<Key, SubagentMetadata> announced = new HashMap<>();
  private final Map<Key, Batch> batches = new HashMap<>();
  private final Map<TaskId, Batch> batchOf = new HashMap<>();
  private final Map<Position, Batch.Status> told = new HashMap<>();
  private Position upTo;

  /// A batch is identified by its call, or else its invocation, or else its only task.
  private record Key(TaskId parent, Id id) {}

  /// An empty tree, which reads entries after `from`.
  Tree(TaskId root, Position from) {
    this.root = root;
    this.upTo = from;
  }

  Position upTo() {
    return upTo;
  }

  /// The path from the root to the task's parent; empty if some of it is not known yet.
  Optional<List<TaskId>> path(TaskId parent) {
    var path = new ArrayList<TaskId>();
    for (@Nullable TaskId task = parent; task != null; task = parents.get(task)) {
      path.addFirst(task);
      if (task.equals(root)) {
        return Optional.of(List.copyOf(path));
      }
      if (path.size() > parents.size()) {
        break;
      }
    }
    return Optional.empty();
  }

  /// The status of the batch of the event at `position`.
  Optional<Batch.Status> told(Position position) {
    return Optional.ofNullable(told.get(position));
  }

  /// The metadata of sub-agents at the start of the call.
  @Nullable SubagentMetadata announced(TaskId task, ToolCallId call) {
    return announced.get(new Key(task, call));
  }

  /// Adds the next entry of the log, which may belong to another tree.
  void add(Entry entry) {
    upTo = entry.position();
    var origin = entry.origin();
    if (origin == null || !origin.rootTaskId().equals(root)) {
      return;
    }
    if (origin.parentTaskId() != null
        && parents.putIfAbsent(origin.taskId(), origin.parentTaskId()) == null) {
      join(origin, origin.parentTaskId());
    }
    add(origin.taskId(), entry);
  }

  private void add(TaskId task, Entry entry) {
    switch (entry.event()) {
      case ToolStart start -> {
        var attempt = start.attempt();
        work(task, 0, attempt == null || attempt <= 1 ? 1 : 0);
        if (start.subagentMetadata() != null) {
          announce(new Key(task, start.toolCallId()), start.toolCallId(), start.subagentMetadata());
        }
      }
      case ToolComplete end -> {
        if (end.subagentMetadata() != null) {
          announced.put(new Key(task, end.toolCallId()), end.subagentMetadata());
        }
      }
      case Usage usage -> work(task, usage.totalTokens(), 0);
      case SubtaskCreated created -> {
        var batch = batch(task, created.subtaskId());
        batch.create(created.subtaskId());
        told.put(entry.position(), batch.status());
      }
      case SubtaskComplete end -> {
        var batch = batch(task, end.subtaskId());
        batch.end(end.subtaskId(), end.status());
        told.put(entry.position(), batch.status());
      }
      default -> {} // Not about sub-agents or usage.
    }
  }

  private void announce(Key key, ToolCallId call, SubagentMetadata metadata) {
    announced.put(key, metadata);
    var batch = batches.computeIfAbsent(key, _ -> new Batch(call));
    batch.announce(metadata.count());
    metadata.taskIds().forEach(task -> batchOf.putIfAbsent(task, batch));
  }

  private Batch batch(TaskId parent, TaskId subtask) {
    return batchOf.computeIfAbsent(
        subtask, _ -> batches.computeIfAbsent(new Key(parent, subtask), _ -> new Batch(null)));
  }

  /// Adds a sub-agent to the batch of its origin, unless its call already named it.
  private void join(Origin origin, TaskId parent) {
    var task = origin.taskId();
    var call = origin.spawnedByCallId();
    var id = call == null ? origin.invocationId() : call;
    var before = batchOf.get(task);
    if (id == null || (before != null && before.call() != null)) {
      return;
    }
    var batch = batches.computeIfAbsent(new Key(parent, id), _ -> new Batch(call));
    if (before != null) {
      before.leave(task);
    }
    batch.create(task);
    batchOf.put(task, batch);
  }

  /// Adds usage of a task to its batch and to all batches above.
  private void work(TaskId task, long tokens, long calls) {
    var batch = batchOf.get(task);
    for (var at = task; batch != null; batch = at == null ? null : batchOf.get(at)) {
      batch.work(tokens, calls);
      at = parents.get(at);
    }
  }
}
