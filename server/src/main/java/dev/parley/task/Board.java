package dev.parley.task;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/// Which tasks run and which are next: at most so many in all.
///
/// Which tasks of a context may run is in the log, see [Lineup]; tasks that wait for somebody have no
/// place here. One lock guards everything.
final class Board {

  /// A task that may run when there is room; `begun` if it has run before.
  record Ready(ContextId context, TaskId task, Priority priority, boolean begun) {}

  private record Place(Ready ready, long number) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<TaskId, ContextId> taken = new HashMap<>();
  private final Map<TaskId, Run> runs = new HashMap<>();
  private final Set<TaskId> abandoned = new HashSet<>();
  private final Set<TaskId> resting = new HashSet<>();
  private final Set<TaskId> barred = new HashSet<>();
  private final PriorityQueue<Place> ready =
      new PriorityQueue<>(
          Comparator.comparing((Place place) -> place.ready().priority())
              .thenComparing(place -> place.ready().begun())
              .reversed()
              .thenComparingLong(Place::number));
  private final int max;
  private int started;
  private long number;
  private boolean closed;

  Board(int max) {
    this.max = max;
  }

  /// Puts the task in line, unless it is here already, was abandoned or barred, or no more work is taken.
  void claim(Ready task) {
    lock.lock();
    try {
      if (!closed
          && !abandoned.contains(task.task())
          && !barred.contains(task.task())
          && taken.putIfAbsent(task.task(), task.context()) == null) {
        ready.add(new Place(task, number++));
      }
    } finally {
      lock.unlock();
    }
  }

  /// Takes those for which there is room, the most urgent first.
  List<Ready> next() {
    lock.lock();
    try {
      var next = new ArrayList<Ready>();
      while (!closed && started < max && !ready.isEmpty()) {
        started++;
        next.add(ready.remove().ready());
      }
      return next;
    } finally {
      lock.unlock();
    }
  }

  void put(Run run) {
    lock.lock();
    try {
      runs.put(run.taskId(), run);
    } finally {
      lock.unlock();
    }
  }

  /// Frees the place of a task that [#next] gave; nothing if it is free already.
  void release(TaskId task) {
    lock.lock();
    try {
      if (taken.remove(task) != null) {
        started -= resting.remove(task) ? 0 : 1;
        runs.remove(task);
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /// The task waits for somebody and keeps its thread: another may have its place meanwhile.
  void rest(TaskId task) {
    lock.lock();
    try {
      if (taken.containsKey(task) && resting.add(task)) {
        started--;
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /// The task goes on, at once: for a while there may be more than there are places.
  void wake(TaskId task) {
    lock.lock();
    try {
      if (resting.remove(task)) {
        started++;
      }
    } finally {
      lock.unlock();
    }
  }

  /// Frees the place of a task whose end could not be written, and never takes it up again: it would
  /// go round for ever. The next start of the server deals with it.
  void abandon(TaskId task) {
    lock.lock();
    try {
      abandoned.add(task);
      release(task);
    } finally {
      lock.unlock();
    }
  }

  /// Keeps the task from being put in line, or lets it again.
  void bar(TaskId task, boolean now) {
    lock.lock();
    try {
      var _ = now ? barred.add(task) : barred.remove(task);
    } finally {
      lock.unlock();
    }
  }

  /// True if the task is in line, at work, or abandoned: nobody else is to end it.
  boolean has(TaskId task) {
    lock.lock();
    try {
      return taken.containsKey(task) || abandoned.contains(task);
    } finally {
      lock.unlock();
    }
  }

  Optional<Run> find(TaskId task) {
    lock.lock();
    try {
      return Optional.ofNullable(runs.get(task));
    } finally {
      lock.unlock();
    }
  }

  List<Run> runs() {
    lock.lock();
    try {
      return List.copyOf(runs.values());
    } finally {
      lock.unlock();
    }
  }

  int running() {
    lock.lock();
    try {
      return started;
    } finally {
      lock.unlock();
    }
  }

  int waiting() {
    lock.lock();
    try {
      return ready.size();
    } finally {
      lock.unlock();
    }
  }

  Set<ContextId> contexts() {
    lock.lock();
    try {
      return Set.copyOf(taken.values());
    } finally {
      lock.unlock();
    }
  }

  boolean closed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /// Takes no more work; what waits stays in the log.
  void close() {
    lock.lock();
    try {
      closed = true;
      ready.clear();
    } finally {
      lock.unlock();
    }
  }

  /// Waits until nothing works; what rests may stay. False if `patience` ran out first.
  boolean awaitIdle(Duration patience) throws InterruptedException {
    return await(patience, () -> started == 0);
  }

  /// Waits until nothing works and nothing rests. False if `patience` ran out first.
  boolean awaitEmpty(Duration patience) throws InterruptedException {
    return await(patience, () -> started == 0 && resting.isEmpty());
  }

  private boolean await(Duration patience, BooleanSupplier done) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      var left = patience.toNanos();
      while (!done.getAsBoolean()) {
        if (left <= 0) {
          return false;
        }
        left = changed.awaitNanos(left);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }
}
