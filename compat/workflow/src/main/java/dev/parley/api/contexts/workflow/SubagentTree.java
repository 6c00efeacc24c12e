package dev.parley.api.contexts.workflow;

import dev.parley.projection.TaskTree;
import dev.parley.projection.UsageTotals;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The batches of sub-agents of one root task: a [TaskTree], and what the workflow format adds to
/// it. A fold of the log up to a position. For one thread.
///
/// It stores the status of batches for every event that reports one, so a tree that has read
/// further still has the earlier status.
final class SubagentTree {

  private final TaskId root;
  private final TaskTree tasks = new TaskTree();
  private final Set<TaskId> joined = new HashSet<>();
  private final Map<Key, SubagentMetadata> announced = new HashMap<>();
  private final Map<Key, SubagentBatch> batches = new HashMap<>();
  private final Map<TaskId, SubagentBatch> batchOf = new HashMap<>();
  private final Map<Position, BatchStatus> statusByPosition = new HashMap<>();
  private Position upTo;

  /// A batch is identified by its call, or else its invocation, or else its only task.
  private record Key(TaskId parent, Id id) {}

  /// The state of a batch at one position of the log. `failed` includes the `cancelled` ones.
  record BatchStatus(
      @Nullable ToolCallId call,
      int total,
      int completed,
      int success,
      int cancelled,
      long tokens,
      long toolCalls) {

    int failed() {
      return completed - success;
    }
  }

  /// The sub-agents that one call spawned, and their progress. A sub-agent has ended when its parent
  /// reports it.
  private static final class SubagentBatch {

    final @Nullable ToolCallId call;
    final Set<TaskId> created = new HashSet<>();
    final Map<TaskId, TaskState> ended = new HashMap<>();
    final UsageTotals usage = new UsageTotals();
    int announced;
    long toolCalls;

    SubagentBatch(@Nullable ToolCallId call) {
      this.call = call;
    }

    BatchStatus status() {
      return new BatchStatus(
          call,
          Math.max(announced, created.size()),
          ended.size(),
          count(TaskState.COMPLETED),
          count(TaskState.CANCELED),
          usage.total().totalTokens(),
          toolCalls);
    }

    private int count(TaskState state) {
      return (int) ended.values().stream().filter(state::equals).count();
    }
  }

  /// An empty tree, which reads entries after `from`.
  SubagentTree(TaskId root, Position from) {
    this.root = root;
    this.upTo = from;
  }

  Position upTo() {
    return upTo;
  }

  /// The path from the root to the parent of the origin's task; empty if some of it is not known
  /// yet.
  Optional<List<TaskId>> path(Origin origin) {
    return tasks.ancestors(origin);
  }

  /// The status of the batch of the event at `position`.
  Optional<BatchStatus> batchStatus(Position position) {
    return Optional.ofNullable(statusByPosition.get(position));
  }

  /// The metadata of sub-agents at the start of the call.
  Optional<SubagentMetadata> announced(TaskId task, ToolCallId call) {
    return Optional.ofNullable(announced.get(new Key(task, call)));
  }

  /// Adds the next entry of the log, which may belong to another tree.
  void add(Entry entry) {
    upTo = entry.position();
    var origin = entry.origin();
    if (origin == null || !origin.rootTaskId().equals(root)) {
      return;
    }
    tasks.apply(entry);
    if (origin.parentTaskId() != null && joined.add(origin.taskId())) {
      join(origin, origin.parentTaskId());
    }
    add(origin.taskId(), entry);
  }

  private void add(TaskId task, Entry entry) {
    switch (entry.event()) {
      case ToolStart start -> {
        var attempt = start.attempt();
        if (attempt == null || attempt <= 1) {
          forEachBatchAbove(task, batch -> batch.toolCalls++);
        }
        if (start.subagentMetadata() != null) {
          announce(new Key(task, start.toolCallId()), start.toolCallId(), start.subagentMetadata());
        }
      }
      case ToolComplete end -> {
        if (end.subagentMetadata() != null) {
          announced.put(new Key(task, end.toolCallId()), end.subagentMetadata());
        }
      }
      case Usage usage -> forEachBatchAbove(task, batch -> batch.usage.add(usage));
      case SubtaskCreated created -> {
        var batch = batch(task, created.subtaskId());
        batch.created.add(created.subtaskId());
        statusByPosition.put(entry.position(), batch.status());
      }
      case SubtaskComplete end -> {
        var batch = batch(task, end.subtaskId());
        batch.ended.put(end.subtaskId(), end.status());
        statusByPosition.put(entry.position(), batch.status());
      }
      default -> {} // Not about sub-agents or usage.
    }
  }

  private void announce(Key key, ToolCallId call, SubagentMetadata metadata) {
    announced.put(key, metadata);
    var batch = batches.computeIfAbsent(key, _ -> new SubagentBatch(call));
    batch.announced = metadata.count();
    metadata.taskIds().forEach(task -> batchOf.putIfAbsent(task, batch));
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
    if (id == null || (before != null && before.call != null)) {
      return;
    }
    var batch = batches.computeIfAbsent(new Key(parent, id), _ -> new SubagentBatch(call));
    if (before != null) {
      before.created.remove(task);
    }
    batch.created.add(task);
    batchOf.put(task, batch);
  }

  /// Changes the batch of a task and all batches above.
  private void forEachBatchAbove(TaskId task, Consumer<SubagentBatch> change) {
    var batch = batchOf.get(task);
    for (var at = Optional.of(task); batch != null; batch = at.map(batchOf::get).orElse(null)) {
      change.accept(batch);
      at = at.flatMap(tasks::parent);
    }
  }
}
