package dev.parley.api.contexts.workflow;

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
final class SubagentTree {

  private final TaskId root;
  private final Map<TaskId, TaskId> parents = new HashMap<>();
  private final Map<Key, SubagentMetadata> announced = new HashMap<>();
  private final Map<Key, SubagentBatch> batches = new HashMap<>();
  private final Map<TaskId, SubagentBatch> batchOf = new HashMap<>();
  private final Map<Position, SubagentBatch.BatchStatus> statusByPosition = new HashMap<>();
  private Position upTo;

  /// A batch is identified by its call, or else its invocation, or else its only task.
  private record Key(TaskId parent, Id id) {}

  /// An empty tree, which reads entries after `from`.
  SubagentTree(TaskId root, Position from) {
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
  Optional<SubagentBatch.BatchStatus> batchStatus(Position position) {
    return Optional.ofNullable(statusByPosition.get(position));
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
        addUsage(task, 0, attempt == null || attempt <= 1 ? 1 : 0);
        if (start.subagentMetadata() != null) {
          announce(new Key(task, start.toolCallId()), start.toolCallId(), start.subagentMetadata());
        }
      }
      case ToolComplete end -> {
        if (end.subagentMetadata() != null) {
          announced.put(new Key(task, end.toolCallId()), end.subagentMetadata());
        }
      }
      case Usage usage -> addUsage(task, usage.totalTokens(), 0);
      case SubtaskCreated created -> {
        var subagentBatch = batch(task, created.subtaskId());
        subagentBatch.create(created.subtaskId());
        statusByPosition.put(entry.position(), subagentBatch.status());
      }
      case SubtaskComplete end -> {
        var subagentBatch = batch(task, end.subtaskId());
        subagentBatch.end(end.subtaskId(), end.status());
        statusByPosition.put(entry.position(), subagentBatch.status());
      }
      default -> {} // Not about sub-agents or usage.
    }
  }

  private void announce(Key key, ToolCallId call, SubagentMetadata metadata) {
    announced.put(key, metadata);
    var subagentBatch = batches.computeIfAbsent(key, _ -> new SubagentBatch(call));
    subagentBatch.announce(metadata.count());
    metadata.taskIds().forEach(task -> batchOf.putIfAbsent(task, subagentBatch));
  }

  private SubagentBatch batch(TaskId parent, TaskId subtask) {
    return batchOf.computeIfAbsent(
        subtask,
        _ -> batches.computeIfAbsent(new Key(parent, subtask), _ -> new SubagentBatch(null)));
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
    var subagentBatch = batches.computeIfAbsent(new Key(parent, id), _ -> new SubagentBatch(call));
    if (before != null) {
      before.remove(task);
    }
    subagentBatch.create(task);
    batchOf.put(task, subagentBatch);
  }

  /// Adds usage of a task to its batch and to all batches above.
  private void addUsage(TaskId task, long tokens, long calls) {
    var subagentBatch = batchOf.get(task);
    for (var at = task;
        subagentBatch != null;
        subagentBatch = at == null ? null : batchOf.get(at)) {
      subagentBatch.addUsage(tokens, calls);
      at = parents.get(at);
    }
  }
}
