package dev.parley.stream;

import dev.parley.http.Parameter;
import dev.parley.http.Request;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.WireName;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Selects the events that a reader wants. The remaining events keep their numbers.
///
/// Thoughts without a confidence pass every `minConfidence`.
public record EventFilter(
    Set<Kind> kinds,
    TaskFilter tasks,
    Verbosity verbosity,
    Set<ThoughtType> thoughtTypes,
    double minConfidence,
    boolean internal) {

  /// Every public event.
  public static final EventFilter ALL =
      new EventFilter(
          EnumSet.allOf(Kind.class),
          TaskFilter.ALL,
          Verbosity.DETAILED,
          EnumSet.allOf(ThoughtType.class),
          0,
          false);

  /// The query parameters of a filter.
  public static final List<Parameter> PARAMETERS =
      List.of(
          Parameter.query("kinds", "only these kinds, separated by commas"),
          Parameter.query("exclude", "all but these kinds, separated by commas"),
          Parameter.query("taskId", "only events of this task"),
          Parameter.query("rootTaskId", "only events of this task and of its descendants"),
          Parameter.query("parentTaskId", "only events of direct subtasks of this task"),
          Parameter.query("agentId", "only events of tasks of this agent"),
          Parameter.query("invocationId", "only events of tasks that this invocation spawned"),
          Parameter.query("verbosity", "thoughts up to this verbosity: brief, normal or detailed"),
          Parameter.query("thoughtTypes", "only thoughts of these types, separated by commas"),
          Parameter.query(
              "minConfidence",
              Parameter.Type.NUMBER,
              "only thoughts of at least this confidence, 0 to 1"),
          Parameter.query("internal", Parameter.Type.BOOLEAN, "include internal events"));

  /// Events of a task and of its descendants.
  public static EventFilter tree(TaskId root) {
    return new EventFilter(
        ALL.kinds,
        TaskFilter.tree(root),
        ALL.verbosity,
        ALL.thoughtTypes,
        ALL.minConfidence,
        false);
  }

  /// Parses the filter from query parameters, or from fields of the same names. `parentOf` finds
  /// the parent of a task of the context.
  ///
  /// @throws Rejection.Invalid for an unknown value, or for an internal kind without `internal`
  public static EventFilter of(
      Function<String, Optional<String>> query, Function<TaskId, Optional<TaskId>> parentOf) {
    var internal = Request.flag("internal", query.apply("internal"));
    var named = list(Kind.class, "kinds", query, Set.of());
    if (!internal) {
      checkPublic(named);
    }
    var kinds = EnumSet.copyOf(query.apply("kinds").isPresent() ? named : ALL.kinds);
    kinds.removeAll(list(Kind.class, "exclude", query, Set.of()));
    var filter =
        new EventFilter(
            kinds,
            TaskFilter.of(query, parentOf),
            query
                .apply("verbosity")
                .map(name -> WireName.parse(Verbosity.class, "verbosity", name))
                .orElse(ALL.verbosity),
            list(ThoughtType.class, "thoughtTypes", query, ALL.thoughtTypes),
            query.apply("minConfidence").map(EventFilter::confidence).orElse(ALL.minConfidence),
            internal);
    // Thousands of streams may have this filter.
    return filter.equals(ALL) ? ALL : filter;
  }

  /// The same with internal events too.
  public EventFilter withInternal() {
    return new EventFilter(kinds, tasks, verbosity, thoughtTypes, minConfidence, true);
  }

  /// Rejects internal kinds: their events would be left out without a word.
  private static void checkPublic(Set<Kind> kinds) {
    for (var kind : kinds) {
      if (kind.internal()) {
        throw new Rejection.Invalid(
            "kinds: " + kind.wire() + " is internal; add internal=true to read internal events");
      }
    }
  }

  /// The same without these kinds.
  public EventFilter without(Set<Kind> unwanted) {
    if (Collections.disjoint(kinds, unwanted)) {
      return this;
    }
    var wanted = EnumSet.noneOf(Kind.class);
    wanted.addAll(kinds);
    wanted.removeAll(unwanted);
    return new EventFilter(wanted, tasks, verbosity, thoughtTypes, minConfidence, internal);
  }

  /// True if the event passes the filter.
  public boolean accepts(Entry entry) {
    if ((entry.event().internal() && !internal) || !kinds.contains(entry.kind())) {
      return false;
    }
    if (!tasks.accepts(entry.origin())) {
      return false;
    }
    return !(entry.event() instanceof ThoughtStream thought) || accepts(thought);
  }

  private boolean accepts(ThoughtStream thought) {
    if (thought.verbosity().compareTo(verbosity) > 0
        || !thoughtTypes.contains(thought.thoughtType())) {
      return false;
    }
    return thought.facts().confidence() >= minConfidence;
  }

  private static <E extends Enum<E> & WireName> Set<E> list(
      Class<E> type, String name, Function<String, Optional<String>> query, Set<E> otherwise) {
    return query
        .apply(name)
        .map(
            text ->
                Arrays.stream(text.split(",", -1))
                    .map(item -> WireName.parse(type, name, item.strip()))
                    .collect(Collectors.toCollection(() -> EnumSet.noneOf(type))))
        .map(set -> (Set<E>) set)
        .orElse(otherwise);
  }

  private static double confidence(String text) {
    try {
      var number = Double.parseDouble(text);
      if (number >= 0 && number <= 1) {
        return number;
      }
    } catch (NumberFormatException notANumber) {
      // Falls through to the rejection below.
    }
    throw new Rejection.Invalid("minConfidence must be a number from 0 to 1");
  }

  /// Selects events by task. All criteria that are set must match.
  ///
  /// `rootTaskId` may be any task: its events and those of its descendants pass. Safe for use by many
  /// threads.
  public static final class TaskFilter {

    /// Events of every task, and those that belong to none.
    static final TaskFilter ALL =
        new TaskFilter(
            new TaskCriteria(null, null, null, null, null), _ -> Optional.empty(), false);

    private final TaskCriteria taskCriteria;
    private final Function<TaskId, Optional<TaskId>> parentOf;
    private final boolean needsLookup;
    private final Map<TaskId, Boolean> below = new ConcurrentHashMap<>();

    /// The criteria of a query.
    record TaskCriteria(
        @Nullable TaskId taskId,
        @Nullable TaskId rootTaskId,
        @Nullable TaskId parentTaskId,
        @Nullable AgentTypeId agentId,
        @Nullable InvocationId invocationId) {}

    private TaskFilter(
        TaskCriteria taskCriteria,
        Function<TaskId, Optional<TaskId>> parentOf,
        boolean needsLookup) {
      this.taskCriteria = taskCriteria;
      this.parentOf = parentOf;
      this.needsLookup = needsLookup;
    }

    /// Events of a root task and of its descendants.
    static TaskFilter tree(TaskId root) {
      return new TaskFilter(
          new TaskCriteria(null, root, null, null, null), _ -> Optional.empty(), false);
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
      return new TaskFilter(taskCriteria, parentOf, taskCriteria.rootTaskId() != null);
    }

    /// True if [#accepts] may wait until the parent of a task is found in the store.
    boolean needsLookup() {
      return needsLookup;
    }

    /// The task that the filter names, alone or with its descendants.
    public Optional<TaskId> namedTask() {
      return Optional.ofNullable(
          taskCriteria.taskId() == null ? taskCriteria.rootTaskId() : taskCriteria.taskId());
    }

    /// True for filters of one context that select the same events.
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof TaskFilter filter && taskCriteria.equals(filter.taskCriteria);
    }

    @Override
    public int hashCode() {
      return taskCriteria.hashCode();
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
}
