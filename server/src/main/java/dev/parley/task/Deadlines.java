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
final class Deadlines {

  /// The remaining time of a task; the clock is paused if `running` is null.
  private record Left(Duration time, @Nullable Running running, Runnable onEnd) {

    /// The remaining time at this moment.
    Duration rest() {
      if (running == null) {
        return time;
      }
      var rest = time.minusNanos(System.nanoTime() - running.sinceNanos());
      return rest.isNegative() ? Duration.ZERO : rest;
    }
  }

  /// When the clock of a task was started, in nanoseconds of the monotonic clock, so that a change
  /// of the system time does not affect the task. `until` is for people and agents to read.
  private record Running(long sinceNanos, Instant until) {}

  private final Timers timers;
  private final InstantSource clock;
  private final Map<TaskId, Left> left = new HashMap<>();

  Deadlines(Timers timers, InstantSource clock) {
    this.timers = timers;
    this.clock = clock;
  }

  /// Starts the clock of the task, if it is not running. Returns the deadline.
  ///
  /// `initial` returns the remaining time of a task that is not tracked yet.
  Instant start(TaskId task, Supplier<Duration> initial, Runnable onEnd) {
    // Not under the lock, because it reads the log.
    var time = knows(task) ? Duration.ZERO : initial.get();
    synchronized (this) {
      var known = left.get(task);
      if (known != null && known.running() != null && known.rest().isPositive()) {
        return known.running().until();
      }
      return pass(task, known == null ? time : known.time(), onEnd);
    }
  }

  private synchronized boolean knows(TaskId task) {
    return left.containsKey(task);
  }

  private Instant pass(TaskId task, Duration time, Runnable onEnd) {
    var until = clock.instant().plus(time);
    left.put(task, new Left(time, new Running(System.nanoTime(), until), onEnd));
    timers.set(task, time, onEnd);
    return until;
  }

  /// The task no longer waits for a person: its clock runs again.
  synchronized void resume(TaskId task) {
    var known = left.get(task);
    if (known != null && known.running() == null) {
      pass(task, known.time(), known.onEnd());
    }
  }

  /// The task waits for a person: its clock is paused.
  synchronized void pause(TaskId task) {
    var known = left.get(task);
    if (known != null && known.running() != null) {
      timers.clear(task);
      left.put(task, new Left(known.rest(), null, known.onEnd()));
    }
  }

  /// The task has ended.
  synchronized void forget(TaskId task) {
    left.remove(task);
    timers.clear(task);
  }
}
