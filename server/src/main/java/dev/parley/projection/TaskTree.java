package dev.parley.projection;

import dev.parley.log.ContextState;
import dev.parley.log.OpenTask;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.RoutingFacts;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The tasks of a context in memory: who created whom, their states, what they wait for, how they
/// ended, and which of them write the answer. A fold of the log for readers. For one thread.
///
/// The transitions are those of [ContextState], so readers and decisions always agree on a task
/// that is open. This class adds what decisions do not need: the ends and errors of tasks, and the
/// tree that they form.
public final class TaskTree {

  /// A question to a person. Exactly one of `input` and `auth` is set.
  public record OpenQuestion(
      Id id, Origin origin, @Nullable InputRequired input, @Nullable AuthRequired auth) {}

  private final ContextState.Fold fold = new ContextState.Fold();
  private final Map<Id, OpenQuestion> questions = new LinkedHashMap<>();
  private final Map<TaskId, TaskId> parents = new HashMap<>();
  private final Map<TaskId, TaskState> ends = new HashMap<>();
  private final Map<TaskId, ErrorReported> errors = new HashMap<>();
  private final Map<TaskId, RoutingFacts> routings = new HashMap<>();

  /// Applies the next entry. A message changes only the tasks that it is sent to.
  public void apply(Entry entry) {
    fold.apply(entry);
    var origin = entry.origin();
    if (origin == null) {
      return;
    }
    var task = origin.taskId();
    if (origin.parentTaskId() != null) {
      parents.putIfAbsent(task, origin.parentTaskId());
    }
    endIn(entry.event()).ifPresent(end -> ends.put(task, end));
    switch (entry.event()) {
      case InputRequired asked ->
          questions.put(asked.inputId(), new OpenQuestion(asked.inputId(), origin, asked, null));
      case AuthRequired asked ->
          questions.put(asked.authId(), new OpenQuestion(asked.authId(), origin, null, asked));
      case ErrorReported error when error.scope() == ErrorScope.TASK -> errors.put(task, error);
      case TaskStatus status ->
          status.facts().routing().ifPresent(routing -> routings.putIfAbsent(task, routing));
      default -> {} // No other event changes what this class adds.
    }
    questions.keySet().removeIf(id -> !isOpen(id));
  }

  private boolean isOpen(Id id) {
    return switch (id) {
      case InputId input -> fold.state().openInput(input).isPresent();
      case AuthId auth -> fold.state().openAuth(auth).isPresent();
      default -> false;
    };
  }

  /// The final state of a task, if this event of the task is its last one. A task that succeeds ends
  /// with `task-complete`, which follows its status `completed` in the same append.
  public static Optional<TaskState> endIn(Event event) {
    return switch (event) {
      case TaskComplete _ -> Optional.of(TaskState.COMPLETED);
      case TaskStatus(var status, _, _)
          when status == TaskState.FAILED || status == TaskState.CANCELED ->
          Optional.of(status);
      default -> Optional.empty(); // Nothing else ends a task.
    };
  }

  /// The open questions, oldest first.
  public List<OpenQuestion> openQuestions() {
    return List.copyOf(questions.values());
  }

  /// True if the task has started to work and has not ended.
  public boolean isActive(TaskId task) {
    return fold.state().openTask(task).filter(OpenTask::started).isPresent();
  }

  /// The final state of a task that has ended.
  public Optional<TaskState> end(TaskId task) {
    return Optional.ofNullable(ends.get(task));
  }

  /// The task that created this one, if the log so far names it.
  public Optional<TaskId> parent(TaskId task) {
    return Optional.ofNullable(parents.get(task));
  }

  /// True if this is the task `top` or one of its descendants.
  public boolean isWithin(TaskId task, TaskId top) {
    return task.equals(top) || above(task).contains(top);
  }

  /// The tasks above the origin's task, root first; empty if the log so far does not name all of
  /// them.
  public Optional<List<TaskId>> ancestors(Origin origin) {
    var parent = origin.parentTaskId();
    if (parent == null) {
      return Optional.of(List.of());
    }
    var path = new ArrayList<>(above(parent));
    path.add(parent);
    return path.getFirst().equals(origin.rootTaskId())
        ? Optional.of(List.copyOf(path))
        : Optional.empty();
  }

  /// The known tasks above a task, root first.
  private List<TaskId> above(TaskId task) {
    var path = new LinkedHashSet<TaskId>();
    for (var above = parents.get(task); above != null && path.add(above); ) {
      above = parents.get(above);
    }
    return List.copyOf(path.reversed());
  }

  /// The last error that the task reported about itself.
  public Optional<ErrorReported> error(TaskId task) {
    return Optional.ofNullable(errors.get(task));
  }

  /// True if the output of the origin's task is part of the answer; see [AnswerSource].
  public boolean isAnswer(Origin origin) {
    return AnswerSource.isAnswer(
        origin,
        root ->
            Optional.ofNullable(routings.get(root))
                .filter(RoutingFacts::delegatesToOneAgent)
                .isPresent());
  }

  /// True if the task and its descendants wait for a person.
  public boolean treeWaitsForPerson(TaskId top) {
    return treeWaitsForPerson(fold.state(), top);
  }

  /// True if this task itself waits for a person: it has an open question and cannot continue
  /// before an answer.
  public boolean waitsForPerson(TaskId task) {
    return fold.state().openTask(task).filter(TaskTree::isParked).isPresent()
        && askers(fold.state()).anyMatch(task::equals);
  }

  /// True if a question is open, and neither the task nor any of its descendants can continue
  /// before an answer.
  ///
  /// A task that is being canceled can continue, and so can a task that has received an answer, or
  /// whose question goes to a parent agent first.
  public static boolean treeWaitsForPerson(ContextState state, TaskId top) {
    var tree = new HashSet<TaskId>();
    // Children are created after their parents, so one pass finds all.
    for (var task : state.openTasks()) {
      var id = task.origin().taskId();
      var parent = task.origin().parentTaskId();
      if (id.equals(top) || (parent != null && tree.contains(parent))) {
        if (!isParked(task)) {
          return false;
        }
        tree.add(id);
      }
    }
    return askers(state).anyMatch(tree::contains);
  }

  private static boolean isParked(OpenTask task) {
    return task.waiting() && !task.woken() && !task.cancelRequested();
  }

  private static Stream<TaskId> askers(ContextState state) {
    return Stream.concat(
        state.openInputs().stream().map(open -> open.task()),
        state.openAuths().stream().map(open -> open.task()));
  }
}
