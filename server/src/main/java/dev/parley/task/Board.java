package dev.parley.task;

import dev.parley.log.OpenTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Which tasks run and which are next: at most so many in all.
///
/// Which tasks of a context may run is in the log, see [Lineup]; tasks that wait for somebody have no
/// place here. A higher priority goes first, then tasks that have begun, then the order of arrival. So that no task
/// waits for ever, every [#FAIR_TURN]th free place goes to the task that has waited longest. One lock guards everything.
final class Board {

  /// How many places are given out until one goes to the task that has waited longest.
  static final int FAIR_TURN = 8;

  /// A task that may run when there is room; `begun` if it has run before, `suspect` if it may be what ends the
  /// server: those run one at a time, so that only the one that does it is blamed.
  record Ready(ContextId context, TaskId task, Priority priority, boolean begun, boolean suspect) {

    static Ready of(ContextId context, OpenTask task) {
      return new Ready(
          context,
          task.origin().taskId(),
          Optional.ofNullable(task.created().priority()).orElse(Priority.NORMAL),
          task.started() || task.origin().parentTaskId() != null,
          task.state() == TaskState.WORKING && task.recoveries() >= SUSPECT_AFTER);
    }
  }

  /// How many recoveries without any progress make a task suspect.
  private static final int SUSPECT_AFTER = 2;

  private record Place(Ready ready, long number) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<TaskId, ContextId> taken = new HashMap<>();
  private final Map<TaskId, Run> runs = new HashMap<>();
  private final Set<TaskId> abandoned = new HashSet<>();
  private final Set<TaskId> resting = new HashSet<>();
  private final Set<TaskId> barred = new HashSet<>();

  /// The tasks in line: by arrival, and the most urgent first.
  private final LinkedHashMap<TaskId, Place> inLine = new LinkedHashMap<>();

  private final TreeSet<Place> urgent =
      new TreeSet<>(
          Comparator.comparing((Place place) -> place.ready().priority())
              .thenComparing(place -> place.ready().begun())
              .reversed()
              .thenComparingLong(Place::number));

  /// Suspect tasks in line, by arrival, and the one at work.
  private final LinkedHashMap<TaskId, Ready> suspects = new LinkedHashMap<>();

  private @Nullable TaskId suspectAtWork;
  private final int max;
  private long given;
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
        if (task.suspect()) {
          suspects.put(task.task(), task);
        } else {
          var place = new Place(task, number++);
          inLine.put(task.task(), place);
          urgent.add(place);
        }
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
      while (!closed && started < max) {
        var ready = nextReady();
        if (ready == null) {
          break;
        }
        started++;
        leaveLine(ready.task());
        next.add(ready);
      }
      return next;
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Ready nextReady() {
    if (suspectAtWork == null && !suspects.isEmpty()) {
      var suspect = suspects.firstEntry().getValue();
      suspectAtWork = suspect.task();
      return suspect;
    }
    if (inLine.isEmpty()) {
      return null;
    }
    var fair = ++given % FAIR_TURN == 0;
    return (fair ? inLine.firstEntry().getValue() : urgent.getFirst()).ready();
  }

  /// False if the task was not in line.
  private boolean leaveLine(TaskId task) {
    var place = inLine.remove(task);
    return place == null ? suspects.remove(task) != null : urgent.remove(place);
  }

  /// The task has got further, or has left: the next suspect may go on.
  void clearSuspicion(TaskId task) {
    lock.lock();
    try {
      if (task.equals(suspectAtWork)) {
        suspectAtWork = null;
      }
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

  /// Frees the place of a task that [#next] gave, or takes it out of the line; nothing if it is not here.
  void release(TaskId task) {
    lock.lock();
    try {
      if (taken.remove(task) != null && !leaveLine(task)) {
        started -= resting.remove(task) ? 0 : 1;
        runs.remove(task);
        clearSuspicion(task);
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

  /// Keeps the task from being put in line while the caller ends it. False if somebody else does that.
  boolean bar(TaskId task) {
    lock.lock();
    try {
      return barred.add(task);
    } finally {
      lock.unlock();
    }
  }

  /// The task has ended, or may be put in line again.
  void unbar(TaskId task) {
    lock.lock();
    try {
      barred.remove(task);
    } finally {
      lock.unlock();
    }
  }

  /// The same for a task that does not work: one in line loses its place. False if it is at work or abandoned, or if
  /// somebody else ends it.
  boolean barIdle(TaskId task) {
    lock.lock();
    try {
      if (leaveLine(task)) {
        taken.remove(task);
      }
      return !taken.containsKey(task) && !abandoned.contains(task) && barred.add(task);
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
      return inLine.size() + suspects.size();
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
      taken.keySet().removeAll(inLine.keySet());
      taken.keySet().removeAll(suspects.keySet());
      suspects.clear();
      inLine.clear();
      urgent.clear();
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
