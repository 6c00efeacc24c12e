package dev.parley.task;

import dev.parley.control.Budgets;
import dev.parley.log.AppendGuard;
import dev.parley.log.ContextState;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.TaskStatusWriter.WriteResult;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Starts, stops and ends tasks.
///
/// The log determines what can happen next, see [ContextSchedule]. [#advance] reads it and does all
/// of it; everyone who changes a context calls it afterwards. A task runs on its own virtual
/// thread, from [#run] to [#conclude]. A task that waits for an answer or a subtask has no thread:
/// it runs again when the log has the answer or the result.
final class TaskScheduler implements TaskRun.RunScheduler, AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(TaskScheduler.class.getName());
  private static final Duration RETRY_PAUSE = Duration.ofSeconds(1);

  private record ReadyAndStoppable(List<RunQueue.ReadyTask> ready, List<TaskId> stoppable) {}

  private final EventLog log;
  private final TaskSettings taskSettings;
  private final TaskSources taskSources;
  private final RunQueue runQueue;
  private final Timers timers;
  private final TaskStatusWriter statusWriter;
  private final AgentCaller agentCaller;
  private final TaskResources taskResources;
  private final TaskTimeouts timeouts;
  private final QuestionTimers questionTimers;
  private final TaskRun.TaskRunDependencies runDependencies;
  private final ControlledTasks controlled;

  TaskScheduler(EventLog log, TaskSettings taskSettings, TaskSources taskSources) {
    this.log = log;
    this.taskSettings = taskSettings;
    this.taskSources = taskSources;
    var limits = taskSettings.limits();
    this.runQueue = new RunQueue(limits.maxConcurrentTasks(), taskSources.time());
    this.timers = new Timers(taskSources.time());
    this.statusWriter = new TaskStatusWriter(log, taskSources, taskSettings.failPoint());
    this.agentCaller = new AgentCaller(statusWriter);
    this.taskResources = new TaskResources(log, taskSettings.agents());
    this.timeouts =
        new TaskTimeouts(
            log,
            limits.taskTimeout(),
            timers,
            taskSources.time(),
            (late, taskEnding) -> fail(late.context(), late.origin().taskId(), taskEnding));
    this.questionTimers =
        new QuestionTimers(
            log,
            taskSettings,
            taskSources,
            timers,
            new QuestionTimers.QuestionListeners(this::onAnswered, this::fail));
    this.runDependencies =
        new TaskRun.TaskRunDependencies(
            log,
            taskSources,
            new SubtaskSpawner(log, taskSettings.agents(), limits.tree()),
            taskSettings.failPoint(),
            taskSettings.controls(),
            this);
    this.controlled = new ControlledTasks(log, taskSettings.controls(), timeouts);
  }

  ControlledTasks controlled() {
    return controlled;
  }

  RunQueue runQueue() {
    return runQueue;
  }

  QuestionTimers questionTimers() {
    return questionTimers;
  }

  // What can happen next.

  /// Starts ready tasks as far as slots are free, and ends tasks that are being canceled.
  @Override
  public void advance(ContextId context) {
    try {
      questionTimers.stop(context);
      while (true) {
        var next = log.inspect(context, state -> next(context, state));
        if (!endIdle(context, next.stoppable()) || statusWriter.closed()) {
          next.ready().forEach(runQueue::enqueue);
          next.ready().forEach(ready -> runQueue.find(ready.task()).ifPresent(TaskRun::signal));
          break;
        }
      }
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      // The context was deleted, so its slots are free for other tasks.
    } catch (Rejection.Unavailable storeDown) {
      timers.schedule(context, RETRY_PAUSE, () -> advance(context));
    } finally {
      // Whatever is wrong with this context, other contexts continue.
      startNext();
    }
  }

  private ReadyAndStoppable next(ContextId context, ContextState state) {
    return new ReadyAndStoppable(
        ContextSchedule.ready(state).stream()
            .filter(task -> !controlled.isPaused(state, task))
            .map(task -> RunQueue.ReadyTask.of(context, task))
            .toList(),
        ContextSchedule.stoppable(state));
  }

  private void startNext() {
    for (var ready : runQueue.takeNext()) {
      taskSources.threads().start("task-" + ready.task(), () -> runAndRelease(ready));
    }
  }

  /// Ends tasks that are being canceled, unless they run. False if there was nothing to do, or other
  /// threads do it: when many children end at the same time, each of them would end the parent.
  private boolean endIdle(ContextId context, List<TaskId> stoppable) {
    var ended = false;
    for (var task : stoppable) {
      if (runQueue.preventStartIfIdle(task)) {
        if (holdsResources(context, task)) {
          taskSources.threads().start("release-" + task, () -> releaseAndEnd(context, task));
        } else {
          ended |= endAndAllowStart(context, task);
        }
      }
    }
    return ended;
  }

  /// True if the task holds remote resources. If that cannot be determined, the task may be started
  /// again.
  private boolean holdsResources(ContextId context, TaskId task) {
    var known = false;
    try {
      var holds = taskResources.held(context, task);
      known = true;
      return holds;
    } finally {
      if (!known) {
        runQueue.allowStart(task);
      }
    }
  }

  /// Ends a task that holds remote resources. Releasing them may take a while.
  private void releaseAndEnd(ContextId context, TaskId task) {
    try {
      taskResources.release(context, task);
    } finally {
      try {
        endAndAllowStart(context, task);
      } finally {
        advance(context);
      }
    }
  }

  private boolean endAndAllowStart(ContextId context, TaskId task) {
    try {
      return end(context, task, TaskEnding.canceled(null));
    } finally {
      runQueue.allowStart(task);
    }
  }

  /// The task, which may be the cause of crashes, made progress, so the next suspect may run.
  @Override
  public void onProgress(TaskId task) {
    runQueue.clearSuspicion(task);
    startNext();
  }

  /// Stops a task that has used up a budget, unless its agent does so itself.
  @Override
  public void onUsage(TaskRun taskRun) {
    if (!taskSettings.agents().get(taskRun.origin().agentId()).checksBudgets()) {
      taskRun
          .controls()
          .exceeded(Budgets.WORK)
          .ifPresent(why -> stop(taskRun, TaskEnding.overBudget(why)));
    }
  }

  @Override
  public void onQuestion(ContextId context) {
    questionTimers.start(context);
  }

  /// Questions were answered or have lapsed. These tasks may wait for them on their threads.
  void onAnswered(ContextId context, List<TaskId> tasks) {
    taskSettings.failPoint().reach("answered");
    tasks.forEach(task -> runQueue.find(task).ifPresent(TaskRun::signal));
    advance(context);
  }

  // One run of a task.

  private void runAndRelease(RunQueue.ReadyTask ready) {
    try {
      run(ready);
    } catch (Throwable broken) { // The root of a thread: ends this run, never the server.
      LOGGER.log(System.Logger.Level.ERROR, "task " + ready.task() + " failed", broken);
      endBrokenTask(ready);
    } finally {
      release(ready.context(), ready.task());
    }
  }

  private void endBrokenTask(RunQueue.ReadyTask ready) {
    try {
      var taskEnding = TaskEnding.failed(ErrorCode.INTERNAL, "the task failed unexpectedly", true);
      endTree(ready.context(), ready.task(), taskEnding);
    } catch (RuntimeException again) {
      LOGGER.log(
          System.Logger.Level.ERROR, "the end of task " + ready.task() + " was not written", again);
      runQueue.abandon(ready.task());
    }
  }

  private void release(ContextId context, TaskId task) {
    runQueue.release(task);
    advance(context);
  }

  private void run(RunQueue.ReadyTask ready) {
    if (controlled.isPaused(ready.context(), ready.task())) {
      // It was paused while it was in the queue.
      return;
    }
    var exceeded = new AtomicReference<Optional<String>>(Optional.empty());
    statusWriter.retry(
        () -> exceeded.set(controlled.budgetExceeded(ready.context(), ready.task())));
    if (exceeded.get().isPresent()) {
      endTree(ready.context(), ready.task(), TaskEnding.overBudget(exceeded.get().get()));
      return;
    }
    var prepared = new AtomicReference<Optional<TaskRun>>(Optional.empty());
    statusWriter.retry(() -> prepared.set(prepare(ready)));
    var taskRun = prepared.get().orElse(null);
    if (taskRun == null) {
      return;
    }
    if (ready.suspect()) {
      taskRun.markSuspect();
    }
    runQueue.addRun(taskRun);
    // The server is stopping: the task was not started, and stays queued for the next start.
    if (taskRun.stopped().filter(TaskEnding.SERVER_STOPPING::equals).isPresent()) {
      return;
    }
    var agent = taskSettings.agents().get(taskRun.origin().agentId());
    if (decide(taskRun, agent)) {
      timers.cancel(taskRun);
      return;
    }
    var outcome = beginWithOutput(taskRun, agent).orElse(null);
    if (outcome == null) {
      if (!begin(taskRun)) {
        return;
      }
      outcome = agentCaller.perform(taskRun, agent);
    }
    while (!conclude(taskRun, agent, outcome)) {
      // There are new entries that the agent has not read.
      taskRun.restart();
      outcome = agentCaller.perform(taskRun, agent);
    }
    timers.cancel(taskRun);
  }

  /// Calls the agent of a new task, whose first append begins the task. Empty if the task has not
  /// begun: because another root task began first, the store is unavailable, or the agent or this
  /// task must not do so.
  private Optional<TaskOutcome> beginWithOutput(TaskRun taskRun, Agent agent) {
    if (!agent.beginsWithOutput()
        || runQueue.isLeftOpen(taskRun.taskId())
        || !statusWriter.check(taskRun::isNew)) {
      return Optional.empty();
    }
    taskRun.beginWithOutput(true);
    var outcome = agentCaller.perform(taskRun, agent);
    var begun = statusWriter.check(taskRun::begun);
    taskRun.beginWithOutput(false);
    if (!begun) {
      taskRun.restart();
    }
    return begun ? Optional.of(outcome) : Optional.empty();
  }

  /// Writes that the task works. False if it does not begin now.
  private boolean begin(TaskRun taskRun) {
    var begun = statusWriter.begin(taskRun);
    if (begun != WriteResult.WRITTEN) {
      if (begun == WriteResult.CANCEL_REQUESTED) {
        endTree(taskRun, TaskEnding.canceled(null));
      }
      timeouts.forget(taskRun.taskId());
      return false;
    }
    taskRun.reachFailPoint("begun");
    return true;
  }

  /// The run of a task that is still open. Ends the task if it cannot run any more.
  private Optional<TaskRun> prepare(RunQueue.ReadyTask ready) {
    try {
      return log.inspect(
              ready.context(),
              state ->
                  state
                      .openTask(ready.task())
                      .map(task -> TaskRun.TaskDetails.of(ready.context(), task)))
          .map(this::prepare);
    } catch (Rejection.Invalid changed) {
      var message = String.valueOf(changed.getMessage());
      var taskEnding = TaskEnding.failed(ErrorCode.INVALID_INPUT, message, false);
      endTree(ready.context(), ready.task(), taskEnding);
      return Optional.empty();
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return Optional.empty();
    }
  }

  private TaskRun prepare(TaskRun.TaskDetails taskDetails) {
    taskSettings.agents().resolve(taskDetails.origin().agentId());
    var recorded = taskDetails.created().workingDirectory();
    var directory =
        taskSettings.workspaces().resolve(recorded, () -> Stream.ofNullable(recorded).toList());
    return new TaskRun(
        runDependencies,
        taskDetails,
        new TaskRun.TaskRunBounds(directory, timeouts.start(taskDetails)));
  }

  /// Lets an agent that only delegates take its next step. False if the task must begin to work.
  private boolean decide(TaskRun taskRun, Agent agent) {
    var outcome = new AtomicReference<Optional<TaskOutcome>>(Optional.empty());
    do {
      statusWriter.retry(
          () -> {
            taskRun.restart();
            outcome.set(Optional.empty());
            outcome.set(AgentCaller.decide(taskRun, agent));
          });
      if (taskRun.stopped().filter(TaskEnding.SERVER_STOPPING::equals).isPresent()) {
        // Nothing has begun that must be handed back.
        return true;
      }
    } while (outcome.get().isPresent() && !conclude(taskRun, agent, outcome.get().get()));
    taskRun.restart();
    return outcome.get().isPresent();
  }

  /// Writes the result of the work. False if the agent must be called again.
  private boolean conclude(TaskRun taskRun, Agent agent, TaskOutcome taskOutcome) {
    var stop = taskRun.stopped().orElse(null);
    if (TaskEnding.SERVER_STOPPING.equals(stop) && agent.resumes()) {
      TaskStatusWriter.handBack(taskRun);
      return true;
    }
    var ending = TaskEnding.SERVER_STOPPING.equals(stop) ? TaskEnding.interrupted() : stop;
    if (ending != null && !(taskOutcome instanceof TaskOutcome.Completed)) {
      endTree(taskRun, ending);
      return true;
    }
    return switch (taskOutcome) {
      case TaskOutcome.Completed completed -> concludeCompleted(taskRun, agent, completed, ending);
      case TaskOutcome.Failed failed -> {
        endTree(taskRun, failed(taskRun, failed));
        yield true;
      }
      case TaskOutcome.Delegated _ -> {
        endLateOrPauseClock(taskRun);
        yield true;
      }
      case TaskOutcome.Parked parked -> concludeParked(taskRun, parked);
      case TaskOutcome.Suspended(var pause) -> {
        TaskStatusWriter.suspend(taskRun, pause);
        controlled.stopClocks(taskRun.context());
        yield true;
      }
    };
  }

  private boolean concludeCompleted(
      TaskRun taskRun, Agent agent, TaskOutcome.Completed completed, @Nullable TaskEnding ending) {
    var result = statusWriter.complete(taskRun, agent, completed);
    if (result == WriteResult.OPEN_SUBTASKS && ending == null) {
      stopSubtasks(taskRun.context(), taskRun.taskId(), "the parent task is done");
      result = statusWriter.complete(taskRun, agent, completed);
    }
    if (result == WriteResult.NEW_ENTRIES && ending == null) {
      return false;
    }
    timeouts.forget(taskRun.taskId());
    if (result != WriteResult.WRITTEN) {
      endTree(
          taskRun, ending != null ? ending : taskRun.stopped().orElse(TaskEnding.canceled(null)));
    }
    return true;
  }

  private boolean concludeParked(TaskRun taskRun, TaskOutcome.Parked parked) {
    var result = statusWriter.park(taskRun, parked);
    if (result == WriteResult.NEW_ENTRIES) {
      return false;
    }
    if (result == WriteResult.CANCEL_REQUESTED) {
      endTree(taskRun, TaskEnding.canceled(null));
    } else {
      endLateOrPauseClock(taskRun);
    }
    return true;
  }

  private void endLateOrPauseClock(TaskRun taskRun) {
    var late = taskRun.park().filter(stop -> !stop.equals(TaskEnding.SERVER_STOPPING));
    if (late.isPresent()) {
      // The deadline passed while the status was written.
      endTree(taskRun, late.get());
    } else {
      timeouts.pauseWhileWaitingForUser(taskRun.subject());
    }
  }

  /// An error is not a failure if the task is being canceled.
  private TaskEnding failed(TaskRun taskRun, TaskOutcome.Failed failed) {
    return statusWriter.check(taskRun::cancelRequested)
        ? TaskEnding.canceled(null)
        : TaskEnding.failed(failed.code(), failed.message(), failed.retryable())
            .withResult(failed.result());
  }

  /// Meanwhile another task may use the slot; the clock is paused if the task waits for a person.
  @Override
  public Entry waitFor(TaskRun taskRun, TaskStatus waiting, Position after, Predicate<Entry> wanted)
      throws InterruptedException {
    var task = taskRun.taskId();
    if (waiting.status() != TaskState.WAITING_SUBTASK) {
      // Before the status is visible, because its readers may rely on the paused clock.
      timeouts.pause(task);
    }
    Entry found;
    try {
      taskRun.emit(List.of(waiting));
      runQueue.markBlocked(task);
      try {
        advance(taskRun.context());
        found = taskRun.awaitEntry(after, wanted);
      } finally {
        runQueue.markUnblocked(task);
      }
    } finally {
      timeouts.resume(task);
    }
    taskRun.emit(List.of(new TaskStatus(TaskState.WORKING, null, null)));
    return found;
  }

  // Ending tasks.

  /// Stops a run. If its agent does not stop within the grace period, the server writes the task's
  /// end anyway. False if the run has parked: then it does not end the task.
  boolean stop(TaskRun taskRun, TaskEnding taskEnding) {
    var result = taskRun.stop(taskEnding);
    if (result == TaskRun.StopResult.STOPPED && !taskEnding.equals(TaskEnding.SERVER_STOPPING)) {
      timers.schedule(taskRun, taskSettings.limits().stopGrace(), () -> force(taskRun, taskEnding));
    }
    return result != TaskRun.StopResult.PARKED;
  }

  private void force(TaskRun taskRun, TaskEnding taskEnding) {
    if (runQueue.find(taskRun.taskId()).filter(found -> found == taskRun).isPresent()) {
      LOGGER.log(
          System.Logger.Level.WARNING,
          "task {0} of context {1} did not stop within the grace period",
          taskRun.taskId(),
          taskRun.context());
      endTree(taskRun, taskEnding);
      release(taskRun.context(), taskRun.taskId());
    }
  }

  /// Ends a task, running or waiting, whose time or whose question has expired.
  private void fail(ContextId context, TaskId task, TaskEnding taskEnding) {
    // A run that parks now must not be followed by another one.
    runQueue.preventStart(task);
    try {
      var ending = taskEnding.unconditional();
      var taskRun = runQueue.find(task).orElse(null);
      var idle =
          taskRun == null
              || !statusWriter.stop(taskRun, taskEnding.questionId(), () -> stop(taskRun, ending));
      if (idle && endTree(context, task, taskEnding)) {
        runQueue.find(task).ifPresent(startedMeanwhile -> stop(startedMeanwhile, ending));
      }
    } finally {
      runQueue.allowStart(task);
      advance(context);
    }
  }

  private void endTree(TaskRun taskRun, TaskEnding taskEnding) {
    // Further text of the agent would conflict with the end that is being written.
    taskRun.fence();
    var _ = endTree(taskRun.context(), taskRun.taskId(), taskEnding);
  }

  /// Cancels all subtasks, waits for their ends, and writes the task's own end. False if it cannot.
  boolean endTree(ContextId context, TaskId task, TaskEnding taskEnding) {
    // The ends of its subtasks would wake the task, and it would continue.
    runQueue.preventStart(task);
    try {
      stopSubtasks(context, task, taskEnding.reason());
      taskSettings.failPoint().reach("below-ended");
      taskResources.release(context, task);
      return end(context, task, taskEnding);
    } finally {
      runQueue.allowStart(task);
    }
  }

  /// Cancels all subtasks, because a task ends after them, and waits a limited time for their ends.
  private void stopSubtasks(ContextId context, TaskId task, String reason) {
    statusWriter.retry(
        () -> {
          if (statusWriter.openBelow(context, task).isEmpty()) {
            return;
          }
          var request = new CancelRequested(null, reason);
          log.append(
              context,
              AppendGuard.none(),
              state -> ContextSchedule.cancelBelow(state, task, request));
          statusWriter
              .openBelow(context, task)
              .forEach(
                  below ->
                      runQueue
                          .find(below)
                          .ifPresent(run -> stop(run, TaskEnding.canceled(reason))));
          advance(context);
          statusWriter.awaitEndsBelow(
              context, task, taskSettings.limits().stopGrace().plusSeconds(2));
        });
  }

  /// Writes the end of a task that does not run. False if it failed or its question was answered.
  private boolean end(ContextId context, TaskId task, TaskEnding taskEnding) {
    var result = statusWriter.end(context, task, taskEnding);
    if (result == WriteResult.ANSWERED) {
      return false;
    }
    timeouts.forget(task);
    if (result != WriteResult.WRITTEN) {
      runQueue.abandon(task);
    }
    return result == WriteResult.WRITTEN;
  }

  /// Starts the clock of a waiting task after a restart.
  void resumeClock(TaskRun.TaskDetails taskDetails) {
    timeouts.startIfWaitingForSubtasks(taskDetails);
  }

  @Override
  public void close() {
    statusWriter.close();
    timers.close();
  }
}
