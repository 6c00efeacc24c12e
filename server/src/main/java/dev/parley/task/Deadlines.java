package dev.parley.task;

import dev.parley.protocol.TaskId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// When tasks are to be stopped. Time in which a task waits for a person does not count, nor does time
/// in which no server runs.
///
/// Its lock guards what is left of each task's time.
final class Deadlines {

  /// What is left of a task's time; it passes unless `running` is null.
  private record Left(Duration time, @Nullable Running running, Runnable onEnd) {

    /// What is left by now.
    Duration rest() {
      if (running == null) {
        return time;
      }
      var rest = time.minusNanos(System.nanoTime() - running.sinceNanos());
      return rest.isNegative() ? Duration.ZERO : rest;
    }
  }

  /// Since when a task's time passes, as the machine counts: a clock that is set anew neither takes time from a task nor
  /// gives it more. `until` is for people and agents to read.
  private record Running(long sinceNanos, Instant until) {}

  private final Timers timers;
  private final InstantSource clock;
  private final Map<TaskId, Left> left = new HashMap<>();

  Deadlines(Timers timers, InstantSource clock) {
    this.timers = timers;
    this.clock = clock;
  }

  /// The task's time passes from now on, if it did not already. Returns when it is over.
  ///
  /// `initial` is asked for what is left if this task is not known here.
  Instant start(TaskId task, Supplier<Duration> initial, Runnable onEnd) {
    // Not under the lock, as it reads the log.
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

  /// The task no longer waits for a person: its time passes again.
  synchronized void resume(TaskId task) {
    var known = left.get(task);
    if (known != null && known.running() == null) {
      pass(task, known.time(), known.onEnd());
    }
  }

  /// The task waits for a person: its time stands still.
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
