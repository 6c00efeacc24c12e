package dev.parley.task;

import dev.parley.control.Budgets;
import dev.parley.control.Pauses;
import dev.parley.control.TaskControls;
import dev.parley.log.ContextState;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.projection.TaskTree;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.PauseView;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskAccount;
import dev.parley.protocol.TaskId;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/// Decides to which tasks the pauses of operators and the budgets apply. Thread-safe.
final class ControlledTasks {

  private final EventLog log;
  private final Pauses pauses;
  private final Budgets budgets;
  private final TaskTimeouts timeouts;

  ControlledTasks(EventLog log, TaskControls controls, TaskTimeouts timeouts) {
    this.log = log;
    this.pauses = controls.pauses();
    this.budgets = controls.budgets();
    this.timeouts = timeouts;
  }

  /// The pauses have changed: stops and starts clocks, and starts what can run again.
  void onPausesChanged(Consumer<ContextId> advance) {
    for (var context : log.withOpenTasks()) {
      try {
        stopClocks(context);
        timeouts.resumeStopped(resumable(context));
        advance.accept(context);
      } catch (Rejection.NotFound | Rejection.Gone deleted) {
        // The context was deleted, with its tasks.
      }
    }
  }

  /// Stops the clocks of paused tasks, and of tasks that wait for them.
  void stopClocks(ContextId context) {
    withWaitingAncestors(context).forEach(timeouts::stop);
  }

  /// Why a task may not begin or continue to work, if its budget is used up.
  Optional<String> budgetExceeded(ContextId context, TaskId task) {
    if (!budgets.active()) {
      return Optional.empty();
    }
    try {
      return log.inspect(
              context,
              state ->
                  state
                      .openTask(task)
                      .map(
                          open ->
                              new AccountedTask(
                                  open.origin(), ContextSchedule.account(state, open.origin()))))
          .flatMap(
              open ->
                  budgets.exceeded(open.account(), open.origin().agentId().value(), Budgets.WORK))
          .map(Budgets::reason);
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return Optional.empty();
    }
  }

  private record AccountedTask(Origin origin, TaskAccount account) {}

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
  private List<TaskId> resumable(ContextId context) {
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
  private Set<TaskId> withWaitingAncestors(ContextId context) {
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
