package dev.parley.client;

import dev.parley.client.HttpRequests.RequestPath;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Kind;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.WireName;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Selects the events of a stream; the server applies the filter.
///
/// Empty sets and nulls select all. `internal` also selects internal events.
public record StreamFilter(
    Set<Kind> kinds,
    Set<Kind> excluded,
    Tasks tasks,
    @Nullable Verbosity verbosity,
    Set<ThoughtType> thoughtTypes,
    @Nullable Double minConfidence,
    boolean internal) {

  /// Selects tasks: all components that are set must match. `rootTaskId` may be any task; it
  /// selects the task with its subtasks.
  public record Tasks(
      @Nullable TaskId taskId,
      @Nullable TaskId rootTaskId,
      @Nullable TaskId parentTaskId,
      @Nullable AgentTypeId agentId,
      @Nullable InvocationId invocationId) {

    /// Every task.
    public static final Tasks ALL = new Tasks(null, null, null, null, null);
  }

  /// Every public event.
  public static final StreamFilter ALL =
      new StreamFilter(Set.of(), Set.of(), Tasks.ALL, null, Set.of(), null, false);

  public StreamFilter {
    kinds = Set.copyOf(kinds);
    excluded = Set.copyOf(excluded);
    thoughtTypes = Set.copyOf(thoughtTypes);
  }

  /// Only these kinds.
  public StreamFilter onlyKinds(Set<Kind> wanted) {
    return new StreamFilter(
        wanted, excluded, tasks, verbosity, thoughtTypes, minConfidence, internal);
  }

  /// All but these kinds.
  public StreamFilter withoutKinds(Set<Kind> unwanted) {
    return new StreamFilter(
        kinds, unwanted, tasks, verbosity, thoughtTypes, minConfidence, internal);
  }

  /// Only this task, or all if null.
  public StreamFilter onlyTask(@Nullable TaskId task) {
    return only(
        new Tasks(task, tasks.rootTaskId, tasks.parentTaskId, tasks.agentId, tasks.invocationId));
  }

  /// Only this task and its subtasks, or all if null.
  public StreamFilter onlyTree(@Nullable TaskId task) {
    return only(
        new Tasks(tasks.taskId, task, tasks.parentTaskId, tasks.agentId, tasks.invocationId));
  }

  /// Only direct subtasks of this task, or all if null.
  public StreamFilter onlyChildrenOf(@Nullable TaskId task) {
    return only(new Tasks(tasks.taskId, tasks.rootTaskId, task, tasks.agentId, tasks.invocationId));
  }

  /// Only tasks of this agent, or all if null.
  public StreamFilter onlyAgent(@Nullable AgentTypeId agent) {
    return only(
        new Tasks(tasks.taskId, tasks.rootTaskId, tasks.parentTaskId, agent, tasks.invocationId));
  }

  /// Only tasks that this invocation spawned, or all if null.
  public StreamFilter onlyInvocation(@Nullable InvocationId invocation) {
    return only(
        new Tasks(tasks.taskId, tasks.rootTaskId, tasks.parentTaskId, tasks.agentId, invocation));
  }

  private StreamFilter only(Tasks some) {
    return new StreamFilter(
        kinds, excluded, some, verbosity, thoughtTypes, minConfidence, internal);
  }

  /// With or without internal events.
  public StreamFilter withInternal(boolean wanted) {
    return new StreamFilter(kinds, excluded, tasks, verbosity, thoughtTypes, minConfidence, wanted);
  }

  /// True if all public events are selected, so that a gap in the sequence numbers means a loss.
  boolean selectsAllPublic() {
    return kinds.isEmpty()
        && excluded.isEmpty()
        && tasks.equals(Tasks.ALL)
        && verbosity == null
        && thoughtTypes.isEmpty()
        && minConfidence == null;
  }

  /// Adds this filter to a query.
  RequestPath addTo(RequestPath requestPath) {
    return requestPath
        .with("kinds", names(sorted(kinds)))
        .with("exclude", names(sorted(excluded)))
        .with("taskId", tasks.taskId)
        .with("rootTaskId", tasks.rootTaskId)
        .with("parentTaskId", tasks.parentTaskId)
        .with("agentId", tasks.agentId)
        .with("invocationId", tasks.invocationId)
        .with("verbosity", verbosity == null ? null : verbosity.wire())
        .with("thoughtTypes", names(thoughtTypes))
        .with("minConfidence", minConfidence)
        .with("internal", internal ? true : null);
  }

  private static Set<Kind> sorted(Set<Kind> kinds) {
    return kinds.isEmpty() ? kinds : EnumSet.copyOf(kinds);
  }

  private static @Nullable String names(Collection<? extends WireName> values) {
    return values.isEmpty()
        ? null
        : values.stream().map(WireName::wire).collect(Collectors.joining(","));
  }
}
