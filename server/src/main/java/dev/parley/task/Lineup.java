package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.Draft;
import dev.parley.log.OpenTask;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The order of a context's tasks, as decisions see it: which one runs, which is next, who is whose child.
final class Lineup {

  /// In a task's metadata: it goes before others that wait.
  static final String WHEN_BUSY = "whenBusy";

  private Lineup() {}

  static Stream<OpenTask> roots(ContextState state) {
    return state.openTasks().stream().filter(task -> task.origin().parentTaskId() == null);
  }

  /// The task that runs, if one does.
  static Optional<OpenTask> running(ContextState state) {
    return roots(state).filter(OpenTask::started).findFirst();
  }

  /// The tasks that wait, the next one first.
  static List<OpenTask> waiting(ContextState state) {
    return roots(state)
        .filter(task -> !task.started())
        .sorted(Comparator.comparing(task -> !interrupts(task)))
        .toList();
  }

  /// The task and all below it that have not ended, children before their parents.
  static List<OpenTask> tree(ContextState state, TaskId top) {
    var tree = new ArrayList<OpenTask>();
    state.openTask(top).ifPresent(tree::add);
    // Children are created after their parents, so one pass finds all.
    for (var task : state.openTasks()) {
      var parent = task.origin().parentTaskId();
      if (parent != null
          && tree.stream().anyMatch(known -> known.origin().taskId().equals(parent))) {
        tree.add(task);
      }
    }
    return tree.reversed();
  }

  /// The request that a task and all below it stop; ends those that have not begun.
  static List<Draft> cancel(ContextState state, TaskId top, CancelRequested request) {
    return tree(state, top).stream().flatMap(task -> cancel(task, request).stream()).toList();
  }

  static List<Draft> cancel(OpenTask task, CancelRequested request) {
    var drafts = new ArrayList<Draft>();
    if (!task.cancelRequested()) {
      drafts.add(new Draft(task.origin(), request));
    }
    if (!task.started()) {
      var reason = request.reason() == null ? "canceled" : request.reason();
      var metadata = Json.object().put("reason", reason);
      drafts.add(new Draft(task.origin(), new TaskStatus(TaskState.CANCELED, null, metadata)));
    }
    return drafts;
  }

  private static boolean interrupts(OpenTask task) {
    var metadata = task.created().metadata();
    return metadata != null
        && metadata.path(WHEN_BUSY).asString("").equals(WhenBusy.INTERRUPT.wire());
  }
}
