package dev.parley.task;

import dev.parley.log.AppendGuard;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/// Runs tasks, each on its own virtual thread, and writes their ends.
///
/// A task that waits for an answer or a subtask has no thread: it runs again when the answer or the
/// result is in the log.
final class TaskRunner implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(TaskRunner.class.getName());
  private static final Duration RETRY_PAUSE = Duration.ofSeconds(1);

  /// The dependencies that the runner shares with [Tasks].
  record TaskRunnerDependencies(
      RunQueue runQueue, TaskTerminator terminator, Timers timers, TaskQuestions taskQuestions) {}

  private record ReadyAndStoppable(List<RunQueue.ReadyTask> ready, List<TaskId> stoppable) {}

  private final EventLog log;
  private final Tasks.TaskSettings taskSettings;
  private final RunQueue runQueue;
  private final TaskTerminator terminator;
  private final Timers timers;
  private final TaskQuestions taskQuestions;
  private final TaskClock clock;
  private final SubtreeCanceller subtreeCanceller;
  private final TaskRun.TaskRunDependencies runDependencies;
  private final RetryingWriter retryingWriter = new RetryingWriter();
  private final OutcomeWriter outcomeWriter;
  private final ResourceReleases resourceReleases;
  private final IdleTaskCanceller idleTaskCanceller;
  private final RemoteQuestionPoller questionPoller;

  TaskRunner(
      EventLog log,
      Tasks.TaskSettings taskSettings,
      ClockAndIds clockAndIds,
      TaskRunnerDependencies taskRunnerDependencies) {
    this.log = log;
    this.taskSettings = taskSettings;
    this.runQueue = taskRunnerDependencies.runQueue();
    this.terminator = taskRunnerDependencies.terminator();
    this.timers = taskRunnerDependencies.timers();
    this.taskQuestions = taskRunnerDependencies.taskQuestions();
    var taskDeadlines = new TaskDeadlines(timers, clockAndIds.clock());
    this.clock =
        new TaskClock(
            log,
            taskSettings.limits().taskTimeout(),
            taskDeadlines,
            (late, taskEnding) -> fail(late.context(), late.origin().taskId(), taskEnding));
    this.subtreeCanceller =
        new SubtreeCanceller(
            log,
            taskSettings.limits().stopGrace().plusSeconds(2),
            (task, taskEnding) ->
                runQueue.find(task).ifPresent(taskRun -> stop(taskRun, taskEnding)),
            this::advance);
    var subtaskSpawner = new SubtaskSpawner(log, taskSettings, this::advance);
    this.resourceReleases = new ResourceReleases(log, taskSettings.agents());
    this.idleTaskCanceller =
        new IdleTaskCanceller(runQueue, resourceReleases, this::end, this::advance);
    this.outcomeWriter = new OutcomeWriter(log, clockAndIds, retryingWriter);
    var blockingWait = new BlockingWait(log, runQueue, taskDeadlines, this::advance);
    this.runDependencies =
        new TaskRun.TaskRunDependencies(
            log,
            clockAndIds,
            subtaskSpawner,
            taskSettings.failPoint(),
            this::watchQuestions,
            this::onProgress,
            blockingWait);
    this.questionPoller =
        new RemoteQuestionPoller(log, taskSettings.agents(), timers, this::advance);
  }

  /// Starts the expiry timers of all open questions of the context, and polls whether they were
  /// answered remotely.
  void watchQuestions(ContextId context) {
    taskQuestions.startTimers(context);
    questionPoller.startPolling(context);
  }

  /// Starts the context's ready tasks, as far as slots are free, and ends tasks that are being
  /// canceled and do not run.
  void advance(ContextId context) {
    try {
      taskQuestions.stopTimers(context);
      while (true) {
        var readyAndStoppable = log.inspect(context, state -> work(context, state));
        if (!idleTaskCanceller.end(context, readyAndStoppable.stoppable())
            || retryingWriter.closed()) {
          readyAndStoppable.ready().forEach(runQueue::enqueue);
          readyAndStoppable
              .ready()
              .forEach(readyTask -> runQueue.find(readyTask.task()).ifPresent(TaskRun::signal));
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

  /// A suspect task made progress, so the next suspect may run.
  private void onProgress(TaskId task) {
    runQueue.clearSuspicion(task);
    startNext();
  }

  private void startNext() {
    for (var readyTask : runQueue.takeNext()) {
      Thread.ofVirtual().name("task-" + readyTask.task()).start(() -> runAndRelease(readyTask));
    }
  }

  private static ReadyAndStoppable work(ContextId context, ContextState state) {
    return new ReadyAndStoppable(
        ContextSchedule.ready(state).stream()
            .map(task -> RunQueue.ReadyTask.of(context, task))
            .toList(),
        ContextSchedule.stoppable(state));
  }

  /// Stops a run. If its agent does not stop within the grace period, the server writes the task's
  /// end anyway.
  void stop(TaskRun taskRun, TaskEnding taskEnding) {
    if (taskRun.stop(taskEnding) && !taskEnding.equals(TaskEnding.SERVER_STOPPING)) {
      timers.schedule(taskRun, taskSettings.limits().stopGrace(), () -> force(taskRun, taskEnding));
    }
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

  private void runAndRelease(RunQueue.ReadyTask readyTask) {
    try {
      work(readyTask);
    } catch (Throwable broken) { // The root of a thread: ends this run, never the server.
      LOGGER.log(System.Logger.Level.ERROR, "task " + readyTask.task() + " failed", broken);
      endBrokenTask(readyTask);
    } finally {
      release(readyTask.context(), readyTask.task());
    }
  }

  private void endBrokenTask(RunQueue.ReadyTask readyTask) {
    try {
      var taskEnding = TaskEnding.failed(ErrorCode.INTERNAL, "the task failed unexpectedly", true);
      endTree(readyTask.context(), readyTask.task(), taskEnding);
    } catch (RuntimeException again) {
      LOGGER.log(
          System.Logger.Level.ERROR,
          "the end of task " + readyTask.task() + " was not written",
          again);
      runQueue.abandon(readyTask.task());
    }
  }

  private void release(ContextId context, TaskId task) {
    runQueue.release(task);
    advance(context);
  }

  private void work(RunQueue.ReadyTask readyTask) {
    var prepared = new AtomicReference<Optional<TaskRun>>(Optional.empty());
    retryingWriter.write(
        () -> {
          prepared.set(prepare(readyTask));
          return true;
        });
    var taskRun = prepared.get().orElse(null);
    if (taskRun == null) {
      return;
    }
    if (readyTask.suspect()) {
      taskRun.markSuspect();
    }
    runQueue.addRun(taskRun);
    // The server is stopping: the task was not started, and stays queued for the next start.
    if (taskRun.stopped().filter(TaskEnding.SERVER_STOPPING::equals).isPresent()) {
      return;
    }
    if (!begin(taskRun)) {
      clock.forget(taskRun.taskId());
    } else {
      taskRun.reachFailPoint("begun");
      var agent = taskSettings.agents().get(taskRun.origin().agentId());
      while (!conclude(taskRun, agent, perform(taskRun, agent))) {
        // There are new entries that the agent has not read.
        taskRun.restart();
      }
      timers.cancel(taskRun);
    }
  }

  /// The run of a task that is still open. Ends the task if it cannot run any more.
  private Optional<TaskRun> prepare(RunQueue.ReadyTask readyTask) {
    try {
      return log.inspect(
              readyTask.context(),
              state ->
                  state
                      .openTask(readyTask.task())
                      .map(task -> TaskClock.subject(readyTask.context(), task)))
          .map(this::prepare);
    } catch (Rejection.Invalid changed) {
      var message = String.valueOf(changed.getMessage());
      var taskEnding = TaskEnding.failed(ErrorCode.INVALID_INPUT, message, false);
      endTree(readyTask.context(), readyTask.task(), taskEnding);
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
        new TaskRun.TaskRunBounds(directory, clock.start(taskDetails)));
  }

  /// Ends a task, running or waiting, whose time or whose question has expired.
  void fail(ContextId context, TaskId task, TaskEnding taskEnding) {
    if (runQueue.find(task).isEmpty()) {
      endTree(context, task, taskEnding);
      advance(context);
    }
    // Also if it was started in the meantime.
    runQueue.find(task).ifPresent(late -> fail(late, taskEnding));
  }

  private void fail(TaskRun taskRun, TaskEnding taskEnding) {
    var asked = taskEnding.questionId();
    // Let the question lapse before stopping the run: either it is closed now, or it was answered
    // and the task continues.
    if (asked == null || terminator.lapse(taskRun.context(), taskRun.taskId(), asked)) {
      stop(taskRun, taskEnding.unconditional());
    }
  }

  /// False if the task has ended or is being canceled, or if another root task runs; in the last
  /// case this task runs later.
  private boolean begin(TaskRun taskRun) {
    var canceled = new AtomicBoolean();
    var begun =
        retryingWriter.write(
            () -> {
              log.append(
                  taskRun.context(), AppendGuard.none(), state -> begin(taskRun, state, canceled));
              return !canceled.get();
            });
    if (canceled.get()) {
      endTree(taskRun, TaskEnding.canceled(null));
    }
    return begun;
  }

  private static List<EventDraft> begin(
      TaskRun taskRun, ContextState state, AtomicBoolean canceled) {
    var task = state.openTask(taskRun.taskId()).orElse(null);
    if (task == null) {
      throw new Rejection.Conflict("task-ended", "the task has ended: " + taskRun.taskId());
    }
    canceled.set(task.cancelRequested());
    if (task.cancelRequested()) {
      return List.of();
    }
    if (!task.started()
        && task.origin().parentTaskId() == null
        && ContextSchedule.running(state).isPresent()) {
      throw new Rejection.Conflict("busy", "a task of this context is running");
    }
    // A task whose state is already WORKING was interrupted by a crash, as only this thread runs
    // it.
    var metadata = task.state() == TaskState.WORKING ? StatusFacts.ofRecovered() : null;
    return List.of(
        new EventDraft(taskRun.origin(), new TaskStatus(TaskState.WORKING, null, metadata)));
  }

  private TaskOutcome perform(TaskRun taskRun, Agent agent) {
    try {
      return taskRun.beginWork() ? agent.work(taskRun) : stopped();
    } catch (InterruptedException stopped) {
      return stopped();
    } catch (Rejection refused) {
      // Usually the task has ended already, and then nothing is written.
      return new TaskOutcome.Failed(ErrorCode.INTERNAL, String.valueOf(refused.getMessage()), true);
    } catch (Throwable broken) { // The root of a thread, nearly: an agent's bug must end its task.
      LOGGER.log(
          System.Logger.Level.ERROR, "the agent of task " + taskRun.taskId() + " failed", broken);
      return new TaskOutcome.Failed(ErrorCode.INTERNAL, "the agent failed unexpectedly", false);
    } finally {
      taskRun.endWork();
    }
  }

  private static TaskOutcome stopped() {
    return new TaskOutcome.Failed(ErrorCode.INTERRUPTED, "the task was interrupted", true);
  }

  /// Writes the result of the work. False if the agent must be called again.
  private boolean conclude(TaskRun taskRun, Agent agent, TaskOutcome taskOutcome) {
    var stop = taskRun.stopped().orElse(null);
    if (stop != null && stop.equals(TaskEnding.SERVER_STOPPING) && agent.resumes()) {
      writeHandedBack(taskRun);
      return true;
    }
    var taskEnding =
        stop == null || !stop.equals(TaskEnding.SERVER_STOPPING) ? stop : TaskEnding.interrupted();
    switch (taskOutcome) {
      case TaskOutcome.Completed completed -> {
        var refusal = outcomeWriter.complete(taskRun, agent, completed);
        if (refusal.equals(OutcomeWriter.CHILDREN) && taskEnding == null) {
          stopSubtasks(taskRun.context(), taskRun.taskId(), "the parent task is done");
          refusal = outcomeWriter.complete(taskRun, agent, completed);
        }
        if (refusal.equals(OutcomeWriter.NEW_ENTRIES) && taskEnding == null) {
          return false;
        }
        clock.forget(taskRun.taskId());
        if (!refusal.isEmpty()) {
          endTree(taskRun, taskEnding == null ? TaskEnding.canceled(null) : taskEnding);
        }
      }
      case TaskOutcome.Failed failed ->
          endTree(taskRun, taskEnding == null ? failed(taskRun, failed) : taskEnding);
      case TaskOutcome.Parked parked -> {
        if (taskEnding != null) {
          endTree(taskRun, taskEnding);
          return true;
        }
        var refusal = outcomeWriter.park(taskRun, parked);
        if (refusal.equals(OutcomeWriter.NEW_ENTRIES)) {
          return false;
        }
        if (refusal.equals(OutcomeWriter.CANCEL_REQUESTED)) {
          endTree(taskRun, TaskEnding.canceled(null));
        } else if (taskRun
            .stopped()
            .filter(late -> !late.equals(TaskEnding.SERVER_STOPPING))
            .isPresent()) {
          // The deadline passed while the status was written.
          endTree(taskRun, taskRun.stopped().get());
        } else {
          clock.pauseWhileWaitingForUser(taskRun.subject());
        }
      }
    }
    return true;
  }

  /// Writes that the server, and not a crash, interrupted the task. If the append fails, nothing is
  /// lost.
  private void writeHandedBack(TaskRun taskRun) {
    try {
      taskRun.emitUnlessCanceled(
          List.of(new TaskStatus(TaskState.WORKING, null, StatusFacts.ofHandedBack())));
    } catch (Rejection refused) {
      LOGGER.log(
          System.Logger.Level.DEBUG,
          "task {0} was not marked as handed back: {1}",
          taskRun.taskId(),
          refused);
    }
  }

  /// An error is not a failure if the task is being canceled.
  private TaskEnding failed(TaskRun taskRun, TaskOutcome.Failed failed) {
    var canceled =
        log.inspect(
            taskRun.context(),
            state ->
                state.openTask(taskRun.taskId()).filter(OpenTask::cancelRequested).isPresent());
    return canceled
        ? TaskEnding.canceled(null)
        : TaskEnding.failed(failed.code(), failed.message(), failed.retryable())
            .withResult(failed.result());
  }

  /// Writes the end of a task that does not run. False if that is not possible, or its question was
  /// answered.
  boolean end(ContextId context, TaskId task, TaskEnding taskEnding) {
    var answered = new AtomicBoolean();
    var ended =
        retryingWriter.write(
            () -> {
              answered.set(!terminator.end(context, task, taskEnding));
              taskSettings.failPoint().reach("after-end");
              return true;
            });
    if (answered.get()) {
      return false;
    }
    clock.forget(task);
    if (!ended) {
      runQueue.abandon(task);
    }
    return ended;
  }

  private void endTree(TaskRun taskRun, TaskEnding taskEnding) {
    // The agent has returned or does not stop: further text from it would conflict with the end
    // that is being written.
    taskRun.fence();
    endTree(taskRun.context(), taskRun.taskId(), taskEnding);
  }

  /// Cancels all subtasks, waits a limited time for their ends, and writes the task's own end.
  void endTree(ContextId context, TaskId task, TaskEnding taskEnding) {
    // The ends of its subtasks would wake the task, and it would continue.
    var _ = runQueue.preventStart(task);
    try {
      stopSubtasks(context, task, taskEnding.reason());
      taskSettings.failPoint().reach("below-ended");
      resourceReleases.release(context, task);
      end(context, task, taskEnding);
    } finally {
      runQueue.allowStart(task);
    }
  }

  private void stopSubtasks(ContextId context, TaskId task, String reason) {
    retryingWriter.write(
        () -> {
          subtreeCanceller.stop(context, task, reason);
          return true;
        });
  }

  /// Starts the clock of a waiting task after a restart.
  void resumeClock(TaskRun.TaskDetails taskDetails) {
    clock.startIfWaitingForSubtasks(taskDetails);
  }

  @Override
  public void close() {
    retryingWriter.close();
  }
}
