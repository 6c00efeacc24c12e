package dev.parley.task;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Which tasks run and which are next: at most one of each context, and at most so many in all.
///
/// What waits behind the first task of a context is only in the log. One lock guards everything.
final class Board {

  /// A task that may start when there is room.
  record Ready(ContextId context, TaskId task, Priority priority) {}

  private record Place(Ready ready, long number) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<ContextId, TaskId> taken = new HashMap<>();
  private final Map<TaskId, Run> runs = new HashMap<>();
  private final PriorityQueue<Place> ready =
      new PriorityQueue<>(
          Comparator.comparing((Place place) -> place.ready().priority())
              .reversed()
              .thenComparingLong(Place::number));
  private final int max;
  private int started;
  private long number;
  private boolean closed;

  Board(int max) {
    this.max = max;
  }

  /// Gives the task its context's place, unless another has it or no more work is taken.
  void claim(Ready task) {
    lock.lock();
    try {
      if (!closed && taken.putIfAbsent(task.context(), task.task()) == null) {
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
  void release(ContextId context, TaskId task) {
    lock.lock();
    try {
      if (taken.remove(context, task)) {
        started--;
        runs.remove(task);
        changed.signalAll();
      }
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

  /// The run of a context, if one is at work.
  Optional<Run> find(ContextId context) {
    lock.lock();
    try {
      return Optional.ofNullable(taken.get(context)).map(runs::get);
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

  List<ContextId> contexts() {
    lock.lock();
    try {
      return List.copyOf(taken.keySet());
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

  /// Waits until nothing runs. False if `patience` ran out first.
  boolean awaitIdle(Duration patience) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      var left = patience.toNanos();
      while (started > 0) {
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
