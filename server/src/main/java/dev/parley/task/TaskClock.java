package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/// Runs the clocks of tasks, and pauses them while the task, or everything that it waits for, waits
/// for a person.
final class TaskClock {

  private final EventLog log;
  private final Duration defaultTimeout;
  private final TaskDeadlines taskDeadlines;
  private final BiConsumer<TaskRun.TaskDetails, TaskEnding> onEnd;

  TaskClock(
      EventLog log,
      Duration usual,
      TaskDeadlines taskDeadlines,
      BiConsumer<TaskRun.TaskDetails, TaskEnding> onEnd) {
    this.log = log;
    this.defaultTimeout = usual;
    this.taskDeadlines = taskDeadlines;
    this.onEnd = onEnd;
  }

  /// Starts the clock of the task, with its remaining time, and resumes those of its ancestors.
  /// Returns the deadline.
  Instant start(TaskRun.TaskDetails taskDetails) {
    var until = startOne(taskDetails);
    ancestorIds(taskDetails).forEach(taskDeadlines::resume);
    return until;
  }

  private Instant startOne(TaskRun.TaskDetails taskDetails) {
    var task = taskDetails.origin().taskId();
    var wanted = taskDetails.created().timeoutMs();
    var timeout = wanted == null ? defaultTimeout : Duration.ofMillis(wanted);
    return taskDeadlines.start(
        task,
        () -> {
          var created = Position.of(taskDetails.createdSeq());
          var left = timeout.minus(WorkTime.used(log, taskDetails.context(), task, created));
          return left.isNegative() ? Duration.ZERO : left;
        },
        () -> onEnd.accept(taskDetails, TaskEnding.timedOut(timeout)));
  }

  /// The task waits. If it waits for a person, or only for subtasks that wait for a person, pauses
  /// its clock and those of ancestors that only wait for it.
  void pauseWhileWaitingForUser(TaskRun.TaskDetails taskDetails) {
    log.inspect(taskDetails.context(), state -> waitingForUser(state, taskDetails))
        .forEach(taskDeadlines::pause);
  }

  /// Starts the clock of a task that waits for subtasks, unless those wait for a person.
  void startIfWaitingForSubtasks(TaskRun.TaskDetails taskDetails) {
    var task = taskDetails.origin().taskId();
    var waits =
        log.inspect(
            taskDetails.context(),
            state ->
                state
                    .openTask(task)
                    .filter(open -> open.state() == TaskState.WAITING_SUBTASK)
                    .filter(open -> !waitsForUser(state, open))
                    .isPresent());
    if (waits) {
      startOne(taskDetails);
    }
  }

  void forget(TaskId task) {
    taskDeadlines.forget(task);
  }

  private List<TaskId> ancestorIds(TaskRun.TaskDetails taskDetails) {
    return log.inspect(
        taskDetails.context(),
        state ->
            ancestors(state, taskDetails).stream().map(task -> task.origin().taskId()).toList());
  }

  private static List<TaskId> waitingForUser(ContextState state, TaskRun.TaskDetails taskDetails) {
    return Stream.concat(
            state.openTask(taskDetails.origin().taskId()).stream(),
            ancestors(state, taskDetails).stream())
        .filter(task -> waitsForUser(state, task))
        .map(task -> task.origin().taskId())
        .toList();
  }

  private static List<OpenTask> ancestors(ContextState state, TaskRun.TaskDetails taskDetails) {
    var chain = new ArrayList<OpenTask>();
    for (var task = state.openTask(taskDetails.origin().parentTaskId());
        task.isPresent();
        task = state.openTask(task.get().origin().parentTaskId())) {
      chain.add(task.get());
    }
    return chain;
  }

  private static boolean waitsForUser(ContextState state, OpenTask task) {
    return UserWait.blocksTree(state, task.origin().taskId());
  }

  static TaskRun.TaskDetails subject(ContextId context, OpenTask task) {
    return new TaskRun.TaskDetails(context, task.origin(), task.created(), task.createdSeq());
  }
}
