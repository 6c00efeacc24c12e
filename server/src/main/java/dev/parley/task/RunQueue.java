package dev.parley.task;

import dev.parley.log.OpenTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.runtime.Time;
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
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The queue of tasks that are ready to run, and the running tasks; their number is limited.
///
/// The log determines which tasks of a context may run, see [ContextSchedule]. Tasks that wait for an answer
/// or a subtask are not in this queue. Tasks with a higher priority start first, then tasks that
/// have run before, then the others in order of arrival. To prevent starvation, every
/// [#FAIR_TURN]th free slot goes to the task that has waited longest. The monitor guards all fields.
final class RunQueue {

  /// One of this many free slots goes to the task that has waited longest.
  static final int FAIR_TURN = 8;

  /// A task that may run when a slot is free. `startedBefore` if it has run before. `suspect` if
  /// the task may be the cause of server crashes: suspects run one at a time, so that only the
  /// task that causes the crash is blamed.
  record ReadyTask(
      ContextId context, TaskId task, Priority priority, boolean startedBefore, boolean suspect) {

    static ReadyTask of(ContextId context, OpenTask task) {
      return new ReadyTask(
          context,
          task.origin().taskId(),
          Optional.ofNullable(task.created().priority()).orElse(Priority.NORMAL),
          task.started() || task.origin().parentTaskId() != null,
          task.state() == TaskState.WORKING && task.recoveries() >= SUSPECT_AFTER);
    }
  }

  /// How many recoveries without any progress make a task suspect.
  private static final int SUSPECT_AFTER = 2;

  private record QueuedTask(ReadyTask ready, long number) {}

  private final Map<TaskId, ContextId> contextsByTask = new HashMap<>();
  private final Map<TaskId, TaskRun> runs = new HashMap<>();
  private final Set<TaskId> abandoned = new HashSet<>();
  private final Set<TaskId> blockedTasks = new HashSet<>();

  /// How many callers end a task, for tasks that must not be queued meanwhile.
  private final Map<TaskId, Integer> startPreventions = new HashMap<>();

  /// The queued tasks, in order of arrival and in order of urgency.
  private final LinkedHashMap<TaskId, QueuedTask> queueByArrival = new LinkedHashMap<>();

  private final TreeSet<QueuedTask> queueByUrgency =
      new TreeSet<>(
          Comparator.comparing((QueuedTask queuedTask) -> queuedTask.ready().priority())
              .thenComparing(queuedTask -> queuedTask.ready().startedBefore())
              .reversed()
              .thenComparingLong(QueuedTask::number));

  /// Queued suspect tasks in order of arrival, and the one that runs.
  private final LinkedHashMap<TaskId, ReadyTask> suspects = new LinkedHashMap<>();

  private @Nullable TaskId runningSuspect;

  /// Tasks that were open when the server started and have not run since. One of them may be the
  /// cause of a crash: its status `working`, which counts the attempts, must be durable before its
  /// agent is called.
  private final Set<TaskId> leftOpen = new HashSet<>();

  private final int max;
  private final Time time;
  private long slotsGiven;
  private int started;
  private long nextNumber;
  private boolean closed;

  RunQueue(int max, Time time) {
    this.max = max;
    this.time = time;
  }

  /// Adds the task to the queue, unless it is queued or running, was abandoned, is being ended, or
  /// the queue is closed.
  synchronized void enqueue(ReadyTask task) {
    if (!closed
        && !abandoned.contains(task.task())
        && !startPreventions.containsKey(task.task())
        && contextsByTask.putIfAbsent(task.task(), task.context()) == null) {
      if (task.suspect()) {
        suspects.put(task.task(), task);
      } else {
        var queuedTask = new QueuedTask(task, nextNumber++);
        queueByArrival.put(task.task(), queuedTask);
        queueByUrgency.add(queuedTask);
      }
    }
  }

  /// Takes tasks from the queue, the most urgent first, while slots are free.
  synchronized List<ReadyTask> takeNext() {
    var next = new ArrayList<ReadyTask>();
    while (!closed && started < max) {
      var readyTask = nextReady();
      if (readyTask == null) {
        break;
      }
      started++;
      removeFromQueue(readyTask.task());
      next.add(readyTask);
    }
    return next;
  }

  private @Nullable ReadyTask nextReady() {
    if (runningSuspect == null && !suspects.isEmpty()) {
      var suspect = suspects.firstEntry().getValue();
      runningSuspect = suspect.task();
      return suspect;
    }
    if (queueByArrival.isEmpty()) {
      return null;
    }
    var fair = ++slotsGiven % FAIR_TURN == 0;
    return (fair ? queueByArrival.firstEntry().getValue() : queueByUrgency.getFirst()).ready();
  }

  /// False if the task was not in the queue.
  private boolean removeFromQueue(TaskId task) {
    var queuedTask = queueByArrival.remove(task);
    return queuedTask == null ? suspects.remove(task) != null : queueByUrgency.remove(queuedTask);
  }

  /// The task made progress or has ended, so the next suspect may run.
  synchronized void clearSuspicion(TaskId task) {
    if (task.equals(runningSuspect)) {
      runningSuspect = null;
    }
  }

  /// These tasks were open when the server started.
  synchronized void addLeftOpen(List<TaskId> tasks) {
    leftOpen.addAll(tasks);
  }

  /// True if the task was open when the server started and has not run since.
  synchronized boolean isLeftOpen(TaskId task) {
    return leftOpen.contains(task);
  }

  synchronized void addRun(TaskRun taskRun) {
    runs.put(taskRun.taskId(), taskRun);
  }

  /// Frees the slot of a task that [#takeNext] returned, or removes the task from the queue. No-op for
  /// other tasks.
  synchronized void release(TaskId task) {
    if (contextsByTask.remove(task) != null && !removeFromQueue(task)) {
      started -= blockedTasks.remove(task) ? 0 : 1;
      runs.remove(task);
      leftOpen.remove(task);
      clearSuspicion(task);
      notifyAll();
    }
  }

  /// The task waits and keeps its thread; another task may use its slot.
  synchronized void markBlocked(TaskId task) {
    if (contextsByTask.containsKey(task) && blockedTasks.add(task)) {
      started--;
      notifyAll();
    }
  }

  /// The task continues immediately: for a short time more tasks may run than there are slots.
  synchronized void markUnblocked(TaskId task) {
    if (blockedTasks.remove(task)) {
      started++;
    }
  }

  /// Frees the slot of a task whose end could not be written, and never queues the task again,
  /// because it would loop for ever. Recovery at the next start of the server handles it.
  synchronized void abandon(TaskId task) {
    abandoned.add(task);
    release(task);
  }

  /// Prevents the task from being queued while the caller ends it. Each call needs one call of
  /// [#allowStart].
  synchronized void preventStart(TaskId task) {
    startPreventions.merge(task, 1, Integer::sum);
  }

  /// The caller has ended the task, or leaves it open. The task may be queued again when all callers
  /// of [#preventStart] allow it.
  synchronized void allowStart(TaskId task) {
    startPreventions.computeIfPresent(task, (_, callers) -> callers == 1 ? null : callers - 1);
  }

  /// Prevents the task from being queued, if it is not running; removes it from the queue. False if
  /// it is running or abandoned, or if another thread is ending it.
  synchronized boolean preventStartIfIdle(TaskId task) {
    if (removeFromQueue(task)) {
      contextsByTask.remove(task);
    }
    var idle =
        !contextsByTask.containsKey(task)
            && !abandoned.contains(task)
            && !startPreventions.containsKey(task);
    if (idle) {
      preventStart(task);
    }
    return idle;
  }

  synchronized Optional<TaskRun> find(TaskId task) {
    return Optional.ofNullable(runs.get(task));
  }

  synchronized List<TaskRun> runs() {
    return List.copyOf(runs.values());
  }

  synchronized int running() {
    return started;
  }

  synchronized int waiting() {
    return queueByArrival.size() + suspects.size();
  }

  synchronized Set<ContextId> contexts() {
    return Set.copyOf(contextsByTask.values());
  }

  synchronized boolean closed() {
    return closed;
  }

  /// Accepts no more tasks and empties the queue; the queued tasks stay in the log.
  synchronized void close() {
    closed = true;
    contextsByTask.keySet().removeAll(queueByArrival.keySet());
    contextsByTask.keySet().removeAll(suspects.keySet());
    suspects.clear();
    queueByArrival.clear();
    queueByUrgency.clear();
  }

  /// Waits until no task is running; blocked tasks may remain. False if `patience` elapsed first.
  boolean awaitIdle(Duration patience) throws InterruptedException {
    return await(patience, () -> started == 0);
  }

  /// Waits until no task is running or blocked. False if `patience` elapsed first.
  boolean awaitEmpty(Duration patience) throws InterruptedException {
    return await(patience, () -> started == 0 && blockedTasks.isEmpty());
  }

  private synchronized boolean await(Duration patience, BooleanSupplier done)
      throws InterruptedException {
    var deadline = time.deadline(patience);
    while (!done.getAsBoolean()) {
      if (time.remaining(deadline) <= 0) {
        return false;
      }
      time.waitUntil(this, deadline);
    }
    return true;
  }
}
