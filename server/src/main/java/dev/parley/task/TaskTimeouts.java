package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.projection.TaskTree;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.runtime.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Ends tasks that take too long. Time in which a task, or everything that it waits for, waits for
/// a person does not count, nor does time in which no server runs.
///
/// The monitor guards the remaining time of each task.
final class TaskTimeouts {

  private static final int PAGE = 1_000;

  /// The remaining time of a task when its clock was started or paused. `sinceNanos` is the time of
  /// the monotonic clock at the start, so that a change of the system time does not affect the task;
  /// null if the clock is paused.
  private record RemainingTime(Duration time, @Nullable Long sinceNanos, Runnable onEnd) {}

  private final EventLog log;
  private final Duration defaultTimeout;
  private final Timers timers;
  private final Time time;
  private final BiConsumer<TaskRun.TaskDetails, TaskEnding> onTimeout;
  private final Map<TaskId, RemainingTime> remainingByTask = new HashMap<>();

  /// The tasks whose clocks an operator has stopped.
  private final Set<TaskId> stopped = new HashSet<>();

  TaskTimeouts(
      EventLog log,
      Duration defaultTimeout,
      Timers timers,
      Time time,
      BiConsumer<TaskRun.TaskDetails, TaskEnding> onTimeout) {
    this.log = log;
    this.defaultTimeout = defaultTimeout;
    this.timers = timers;
    this.time = time;
    this.onTimeout = onTimeout;
  }

  /// Starts the clock of the task, with its remaining time, and resumes those of its ancestors.
  /// Returns the deadline.
  Instant start(TaskRun.TaskDetails taskDetails) {
    var deadline = startOne(taskDetails);
    log.inspect(taskDetails.context(), state -> ids(ancestors(state, taskDetails).stream()))
        .forEach(this::resume);
    return deadline;
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
                    .filter(TaskTimeouts::waitsForSubtasks)
                    .filter(_ -> !TaskTree.treeWaitsForPerson(state, task))
                    .isPresent());
    if (waits) {
      startOne(taskDetails);
    }
  }

  private static boolean waitsForSubtasks(OpenTask task) {
    return task.state() == TaskState.WAITING_SUBTASK
        || (task.state() == TaskState.WORKING && task.waiting());
  }

  private Instant startOne(TaskRun.TaskDetails taskDetails) {
    var task = taskDetails.origin().taskId();
    var wanted = taskDetails.created().timeoutMs();
    var timeout = wanted == null ? defaultTimeout : Duration.ofMillis(wanted);
    // Not under the lock, because it reads the log.
    var initial = tracks(task) ? Duration.ZERO : timeout.minus(used(taskDetails));
    synchronized (this) {
      var known = remainingByTask.get(task);
      var left = known == null ? notNegative(initial) : remaining(known);
      if (known == null || known.sinceNanos() == null || left.isZero()) {
        startTimer(task, left, () -> onTimeout.accept(taskDetails, TaskEnding.timedOut(timeout)));
      }
      // Computed again each time, because the system time may have changed.
      return time.instant().plus(left);
    }
  }

  private synchronized boolean tracks(TaskId task) {
    return remainingByTask.containsKey(task);
  }

  private void startTimer(TaskId task, Duration left, Runnable onEnd) {
    stopped.remove(task);
    remainingByTask.put(task, new RemainingTime(left, time.nanos(), onEnd));
    timers.schedule(task, left, onEnd);
  }

  private Duration remaining(RemainingTime known) {
    return known.sinceNanos() == null
        ? known.time()
        : notNegative(known.time().minusNanos(time.nanos() - known.sinceNanos()));
  }

  private static Duration notNegative(Duration duration) {
    return duration.isNegative() ? Duration.ZERO : duration;
  }

  /// How long the task has worked, computed from its events: the time between two of them counts if
  /// the task was working and no server was started in between.
  private Duration used(TaskRun.TaskDetails taskDetails) {
    var used = Duration.ZERO;
    if (!started(taskDetails)) {
      return used; // Saves reading the log for each new task.
    }
    @Nullable Instant last = null;
    var working = false;
    var position = Position.of(taskDetails.createdSeq());
    for (var page = log.read(taskDetails.context(), position, PAGE);
        !page.isEmpty();
        page = log.read(taskDetails.context(), position, PAGE)) {
      for (var entry : page) {
        if (taskDetails.origin().taskId().equals(entry.taskId())) {
          var status = entry.event() instanceof TaskStatus s ? s : null;
          var recovered = status != null && status.facts().recovered();
          if (working && last != null && !recovered) {
            used = used.plus(Duration.between(last, entry.timestamp()));
          }
          last = entry.timestamp();
          if (status != null) {
            working = status.status() == TaskState.WORKING && status.facts().subtaskIds().isEmpty();
          }
        }
      }
      position = page.getLast().position();
    }
    return used;
  }

  private boolean started(TaskRun.TaskDetails taskDetails) {
    var task = taskDetails.origin().taskId();
    return log.inspect(
        taskDetails.context(), state -> state.openTask(task).filter(OpenTask::started).isPresent());
  }

  /// The task waits. If it waits for a person, or only for subtasks that wait for a person, pauses
  /// its clock and those of ancestors that only wait for it.
  void pauseWhileWaitingForUser(TaskRun.TaskDetails taskDetails) {
    log.inspect(
            taskDetails.context(),
            state ->
                ids(
                    Stream.concat(
                            state.openTask(taskDetails.origin().taskId()).stream(),
                            ancestors(state, taskDetails).stream())
                        .filter(
                            task -> TaskTree.treeWaitsForPerson(state, task.origin().taskId()))))
        .forEach(this::pause);
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

  private static List<TaskId> ids(Stream<OpenTask> tasks) {
    return tasks.map(task -> task.origin().taskId()).toList();
  }

  /// The task waits for a person: its clock is paused.
  synchronized void pause(TaskId task) {
    var known = remainingByTask.get(task);
    if (known != null && known.sinceNanos() != null) {
      remainingByTask.put(task, new RemainingTime(remaining(known), null, known.onEnd()));
      timers.cancel(task);
    }
  }

  /// The task no longer waits for a person: its clock runs again.
  synchronized void resume(TaskId task) {
    var known = remainingByTask.get(task);
    if (known != null && known.sinceNanos() == null) {
      startTimer(task, known.time(), known.onEnd());
    }
  }

  /// An operator has paused the task: stops its clock, if it runs.
  synchronized void stop(TaskId task) {
    var known = remainingByTask.get(task);
    if (known != null && known.sinceNanos() != null) {
      pause(task);
      stopped.add(task);
    }
  }

  /// An operator has ended the pause of these tasks: their clocks continue if [#stop] stopped them.
  synchronized void resumeStopped(List<TaskId> tasks) {
    tasks.stream().filter(stopped::remove).forEach(this::resume);
  }

  /// The task has ended.
  synchronized void forget(TaskId task) {
    remainingByTask.remove(task);
    stopped.remove(task);
    timers.cancel(task);
  }
}
