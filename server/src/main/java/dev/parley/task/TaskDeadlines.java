package dev.parley.task;

import dev.parley.protocol.TaskId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The deadlines of tasks. Time in which a task waits for a person does not count, nor does time in
/// which no server runs.
///
/// The lock guards the remaining time of each task.
final class TaskDeadlines {

  /// The remaining time of a task; the clock is paused if `running` is null.
  private record RemainingTime(Duration time, @Nullable RunningTime running, Runnable onEnd) {

    /// The remaining time at this moment.
    Duration remaining() {
      if (running == null) {
        return time;
      }
      var rest = time.minusNanos(System.nanoTime() - running.sinceNanos());
      return rest.isNegative() ? Duration.ZERO : rest;
    }
  }

  /// When the clock of a task was started, in nanoseconds of the monotonic clock, so that a change
  /// of the system time does not affect the task. `until` is for people and agents to read.
  private record RunningTime(long sinceNanos, Instant until) {}

  private final Timers timers;
  private final InstantSource clock;
  private final Map<TaskId, RemainingTime> remainingByTask = new HashMap<>();

  TaskDeadlines(Timers timers, InstantSource clock) {
    this.timers = timers;
    this.clock = clock;
  }

  /// Starts the clock of the task, if it is not running. Returns the deadline.
  ///
  /// `initial` returns the remaining time of a task that is not tracked yet.
  Instant start(TaskId task, Supplier<Duration> initial, Runnable onEnd) {
    // Not under the lock, because it reads the log.
    var time = isTracked(task) ? Duration.ZERO : initial.get();
    synchronized (this) {
      var known = remainingByTask.get(task);
      if (known != null && known.running() != null && known.remaining().isPositive()) {
        return known.running().until();
      }
      return startTimer(task, known == null ? time : known.time(), onEnd);
    }
  }

  private synchronized boolean isTracked(TaskId task) {
    return remainingByTask.containsKey(task);
  }

  private Instant startTimer(TaskId task, Duration time, Runnable onEnd) {
    var until = clock.instant().plus(time);
    remainingByTask.put(
        task, new RemainingTime(time, new RunningTime(System.nanoTime(), until), onEnd));
    timers.schedule(task, time, onEnd);
    return until;
  }

  /// The task no longer waits for a person: its clock runs again.
  synchronized void resume(TaskId task) {
    var known = remainingByTask.get(task);
    if (known != null && known.running() == null) {
      startTimer(task, known.time(), known.onEnd());
    }
  }

  /// The task waits for a person: its clock is paused.
  synchronized void pause(TaskId task) {
    var known = remainingByTask.get(task);
    if (known != null && known.running() != null) {
      timers.cancel(task);
      remainingByTask.put(task, new RemainingTime(known.remaining(), null, known.onEnd()));
    }
  }

  /// The task has ended.
  synchronized void forget(TaskId task) {
    remainingByTask.remove(task);
    timers.cancel(task);
  }
}
