package dev.parley.http;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskId;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Selects events by task. All criteria that are set must match.
///
/// `rootTaskId` may be any task: its events and those of its descendants pass. Safe for use by many
/// threads.
public final class TaskFilter {

  /// Events of every task, and those that belong to none.
  static final TaskFilter ALL =
      new TaskFilter(new TaskCriteria(null, null, null, null, null), _ -> Optional.empty());

  private final TaskCriteria taskCriteria;
  private final Function<TaskId, Optional<TaskId>> parentOf;
  private final Map<TaskId, Boolean> below = new ConcurrentHashMap<>();

  /// The criteria of a query.
  record TaskCriteria(
      @Nullable TaskId taskId,
      @Nullable TaskId rootTaskId,
      @Nullable TaskId parentTaskId,
      @Nullable AgentTypeId agentId,
      @Nullable InvocationId invocationId) {}

  private TaskFilter(TaskCriteria taskCriteria, Function<TaskId, Optional<TaskId>> parentOf) {
    this.taskCriteria = taskCriteria;
    this.parentOf = parentOf;
  }

  /// Events of a root task and of its descendants.
  static TaskFilter tree(TaskId root) {
    return new TaskFilter(new TaskCriteria(null, root, null, null, null), _ -> Optional.empty());
  }

  /// Parses query parameters. `parentOf` finds the parent of a task of the context.
  static TaskFilter of(
      Function<String, Optional<String>> query, Function<TaskId, Optional<TaskId>> parentOf) {
    var taskCriteria =
        new TaskCriteria(
            query.apply("taskId").map(TaskId::new).orElse(null),
            query.apply("rootTaskId").map(TaskId::new).orElse(null),
            query.apply("parentTaskId").map(TaskId::new).orElse(null),
            query.apply("agentId").map(AgentTypeId::new).orElse(null),
            query.apply("invocationId").map(InvocationId::new).orElse(null));
    return new TaskFilter(taskCriteria, parentOf);
  }

  /// The task that the filter names, alone or with its descendants.
  public Optional<TaskId> namedTask() {
    return Optional.ofNullable(
        taskCriteria.taskId() == null ? taskCriteria.rootTaskId() : taskCriteria.taskId());
  }

  boolean accepts(@Nullable Origin origin) {
    if (taskCriteria.equals(ALL.taskCriteria)) {
      return true;
    }
    return origin != null
        && matches(taskCriteria.taskId(), origin.taskId())
        && matches(taskCriteria.parentTaskId(), origin.parentTaskId())
        && matches(taskCriteria.agentId(), origin.agentId())
        && matches(taskCriteria.invocationId(), origin.invocationId())
        && (taskCriteria.rootTaskId() == null || isBelow(taskCriteria.rootTaskId(), origin));
  }

  private static boolean matches(@Nullable Object wanted, @Nullable Object actual) {
    return wanted == null || wanted.equals(actual);
  }

  private boolean isBelow(TaskId top, Origin origin) {
    if (top.equals(origin.taskId())
        || top.equals(origin.rootTaskId())
        || top.equals(origin.parentTaskId())) {
      return true;
    }
    var parent = origin.parentTaskId();
    return parent != null
        && !parent.equals(origin.rootTaskId())
        && below.computeIfAbsent(parent, task -> hasAbove(task, top));
  }

  /// True if `top` is an ancestor of the task. The events of the task are in the log, so all its
  /// ancestors are known.
  private boolean hasAbove(TaskId task, TaskId top) {
    var above = parentOf.apply(task);
    while (above.isPresent() && !above.get().equals(top)) {
      above = parentOf.apply(above.get());
    }
    return above.isPresent();
  }
}
