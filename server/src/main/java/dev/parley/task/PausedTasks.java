package dev.parley.task;

import dev.parley.control.Pauses;
import dev.parley.log.ContextState;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.projection.TaskTree;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.PauseView;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Decides to which tasks the pauses of operators apply. Thread-safe.
final class PausedTasks {

  private final EventLog log;
  private final Pauses pauses;

  PausedTasks(EventLog log, Pauses pauses) {
    this.log = log;
    this.pauses = pauses;
  }

  boolean isPaused(ContextState state, OpenTask task) {
    return find(state, task).isPresent();
  }

  /// The same for a task that may have ended.
  boolean isPaused(ContextId context, TaskId task) {
    if (pauses.active().isEmpty()) {
      return false;
    }
    try {
      return log.inspect(
          context, state -> state.openTask(task).filter(open -> isPaused(state, open)).isPresent());
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return false;
    }
  }

  private Optional<PauseView> find(ContextState state, OpenTask task) {
    return pauses.active().isEmpty()
        ? Optional.empty()
        : pauses.find(task.origin().agentId(), ContextSchedule.account(state, task.origin()));
  }

  /// The open tasks of a context to which no pause applies, and that do not wait for a person.
  List<TaskId> resumable(ContextId context) {
    return log.inspect(
        context,
        state ->
            state.openTasks().stream()
                .filter(task -> !isPaused(state, task))
                .filter(task -> !TaskTree.treeWaitsForPerson(state, task.origin().taskId()))
                .map(task -> task.origin().taskId())
                .toList());
  }

  /// The paused tasks of a context, and the tasks that wait for them.
  Set<TaskId> withWaitingAncestors(ContextId context) {
    if (pauses.active().isEmpty()) {
      return Set.of();
    }
    return log.inspect(
        context,
        state -> {
          var found = new LinkedHashSet<TaskId>();
          state.openTasks().stream()
              .filter(task -> isPaused(state, task))
              .forEach(
                  task -> {
                    found.add(task.origin().taskId());
                    for (var above = state.openTask(task.origin().parentTaskId());
                        above.isPresent() && above.get().waiting();
                        above = state.openTask(above.get().origin().parentTaskId())) {
                      found.add(above.get().origin().taskId());
                    }
                  });
          return found;
        });
  }

  /// The active pauses, each with the number of open tasks that it stops.
  List<PauseView> counted() {
    var active = pauses.active();
    if (active.isEmpty()) {
      return active;
    }
    var counts = new HashMap<String, Integer>();
    for (var context : log.withOpenTasks()) {
      try {
        log.inspect(
                context,
                state ->
                    state.openTasks().stream()
                        .flatMap(task -> find(state, task).stream())
                        .map(PauseView::id)
                        .toList())
            .forEach(pause -> counts.merge(pause, 1, Integer::sum));
      } catch (Rejection.NotFound | Rejection.Gone deleted) {
        // Nothing of it waits.
      }
    }
    return active.stream()
        .map(pause -> pause.withWaitingTasks(counts.getOrDefault(pause.id(), 0)))
        .toList();
  }
}
