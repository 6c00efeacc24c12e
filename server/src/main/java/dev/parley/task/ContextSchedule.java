package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.OpenTask;
import dev.parley.log.OpenTask.OpenCall;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.TaskAccount;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The tasks of a context as decisions need them: which task runs, which tasks wait and in which
/// order, and which are subtasks of which.
final class ContextSchedule {

  private ContextSchedule() {}

  static Stream<OpenTask> roots(ContextState state) {
    return state.openTasks().stream().filter(task -> task.origin().parentTaskId() == null);
  }

  /// The root task that runs, if any.
  static Optional<OpenTask> running(ContextState state) {
    return roots(state).filter(OpenTask::started).findFirst();
  }

  /// Rejects the start of a root task while another one runs.
  static void checkTurn(ContextState state, OpenTask task) {
    if (!task.started() && task.origin().parentTaskId() == null && running(state).isPresent()) {
      throw new Rejection.Conflict("busy", "a task of this context is running");
    }
  }

  /// The status `working` of a task that has not begun, for the first append of its agent; empty if
  /// it has begun.
  ///
  /// @throws Rejection.Conflict if it has ended or is being canceled, or if another root task runs
  static Optional<EventDraft> beginning(ContextState state, TaskId id) {
    var task =
        state
            .openTask(id)
            .filter(open -> open.started() || !open.cancelRequested())
            .orElseThrow(() -> new Rejection.Conflict("task-ended", "the task is ending: " + id));
    if (task.started()) {
      return Optional.empty();
    }
    checkTurn(state, task);
    return Optional.of(
        new EventDraft(task.origin(), new TaskStatus(TaskState.WORKING, null, null)));
  }

  /// The root tasks that wait, the next one first.
  static List<OpenTask> waiting(ContextState state) {
    return roots(state)
        .filter(task -> !task.started())
        .sorted(Comparator.comparing(task -> !interrupts(task)))
        .toList();
  }

  /// The tasks that can run now: the next root task if none runs, started tasks that have work to
  /// do, and waiting tasks that may have received an answer or a result.
  static List<OpenTask> ready(ContextState state) {
    var ready =
        new ArrayList<>(
            state.openTasks().stream()
                .filter(task -> !task.cancelRequested() && !isHosted(task))
                .filter(
                    task ->
                        task.started()
                            ? !task.waiting() || task.woken()
                            : task.origin().parentTaskId() != null)
                .toList());
    if (running(state).isEmpty()) {
      waiting(state).stream().findFirst().ifPresent(ready::add);
    }
    return ready;
  }

  /// Who is responsible for a task: for whom its root task was created.
  static TaskAccount account(ContextState state, Origin origin) {
    return state
        .openTask(origin.rootTaskId())
        .flatMap(root -> root.created().facts().account())
        .orElseGet(() -> TaskAccount.of(state.owner()));
  }

  /// True if the agent of the task's parent runs the task; see [HostedSubtask].
  static boolean isHosted(OpenTask task) {
    return task.origin().parentTaskId() != null && task.created().facts().hosted();
  }

  /// The tasks that are being canceled and have no open subtasks.
  static List<TaskId> stoppable(ContextState state) {
    return state.openTasks().stream()
        .filter(OpenTask::cancelRequested)
        .map(task -> task.origin().taskId())
        .filter(task -> children(state, task).findAny().isEmpty())
        .toList();
  }

  static Stream<OpenTask> children(ContextState state, TaskId parent) {
    return state.openTasks().stream().filter(task -> parent.equals(task.origin().parentTaskId()));
  }

  /// The number of ancestors of the task.
  static int depth(ContextState state, OpenTask task) {
    var depth = 0;
    for (var above = state.openTask(task.origin().parentTaskId());
        above.isPresent();
        above = state.openTask(above.get().origin().parentTaskId())) {
      depth++;
    }
    return depth;
  }

  /// The task and all its open descendants, children before their parents.
  static List<OpenTask> tree(ContextState state, TaskId top) {
    var tree = new LinkedHashMap<TaskId, OpenTask>();
    state.openTask(top).ifPresent(task -> tree.put(top, task));
    // Children are created after their parents, so one pass finds all.
    for (var task : state.openTasks()) {
      var parent = task.origin().parentTaskId();
      if (parent != null && tree.containsKey(parent)) {
        tree.put(task.origin().taskId(), task);
      }
    }
    return new ArrayList<>(tree.sequencedValues().reversed());
  }

  /// The events that cancel a task and all its descendants. Those that have not started end
  /// immediately.
  static List<EventDraft> cancel(ContextState state, TaskId top, CancelRequested request) {
    return tree(state, top).stream()
        .flatMap(task -> cancel(state, task, request).stream())
        .toList();
  }

  /// The events that cancel all descendants of a task, but not the task itself.
  static List<EventDraft> cancelBelow(ContextState state, TaskId top, CancelRequested request) {
    return tree(state, top).stream()
        .filter(task -> !task.origin().taskId().equals(top))
        .flatMap(task -> cancel(state, task, request).stream())
        .toList();
  }

  static List<EventDraft> cancel(ContextState state, OpenTask task, CancelRequested request) {
    var drafts = new ArrayList<EventDraft>();
    if (!task.cancelRequested()) {
      drafts.add(new EventDraft(task.origin(), request));
    }
    if (!task.started()) {
      var reason = request.reason() == null ? "canceled" : request.reason();
      var metadata = StatusFacts.ofNeverStarted(reason);
      drafts.add(new EventDraft(task.origin(), new TaskStatus(TaskState.CANCELED, null, metadata)));
      subtaskComplete(state, task.origin(), new SubtaskEnd(TaskState.CANCELED, null, reason))
          .ifPresent(drafts::add);
    }
    return drafts;
  }

  /// The end of a call that was stopped.
  static ToolComplete closedCall(ToolCallId id, OpenCall call, ToolEvent.Outcome outcome) {
    return new ToolComplete(
        id, call.tool(), false, null, outcome.wire(), null, outcome, call.subagents());
  }

  /// How a subtask ended, for its parent.
  record SubtaskEnd(TaskState state, @Nullable String result, @Nullable String error) {}

  /// The event that reports the end of a subtask to its parent, unless the parent has ended.
  static Optional<EventDraft> subtaskComplete(ContextState state, Origin child, SubtaskEnd end) {
    return state
        .openTask(child.parentTaskId())
        .map(
            parent ->
                new EventDraft(
                    parent.origin(),
                    new SubtaskComplete(child.taskId(), end.state(), end.result(), end.error())));
  }

  private static boolean interrupts(OpenTask task) {
    return task.created().facts().interrupts();
  }
}
