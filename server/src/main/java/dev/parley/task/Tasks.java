package dev.parley.task;

import dev.parley.control.Budgets;
import dev.parley.log.AppendGuard;
import dev.parley.log.AppendResult;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.AcceptedMessage;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputId;
import dev.parley.protocol.PauseView;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Accepts, runs and cancels tasks, and resumes them after a restart.
public final class Tasks implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(Tasks.class.getName());

  /// How often a task is resumed after a crash without making progress.
  static final int RECOVERIES_MAX = 3;

  private static final int ROLLBACK_ATTEMPTS_MAX = 10;

  private final EventLog log;
  private final ContextHistory contextHistory;
  private final TaskSettings taskSettings;
  private final MessageIntake messageIntake;
  private final TaskScheduler scheduler;
  private final RunQueue runQueue;
  private final TaskQuestions taskQuestions;
  private final ContextRecovery recovery;

  public Tasks(
      EventLog log,
      ContextHistory contextHistory,
      TaskSettings taskSettings,
      TaskSources taskSources) {
    this.log = log;
    this.contextHistory = contextHistory;
    this.taskSettings = taskSettings;
    this.messageIntake = new MessageIntake(log, contextHistory, taskSettings, taskSources);
    this.scheduler = new TaskScheduler(log, taskSettings, taskSources);
    this.runQueue = scheduler.runQueue();
    this.taskQuestions =
        new TaskQuestions(
            log,
            contextHistory,
            new AnswerDuration(log, taskSources),
            new RememberedApprovals(log, taskSettings.controls().rules(), taskSources),
            scheduler.questionTimers(),
            scheduler::onAnswered);
    this.recovery = new ContextRecovery(taskSources.time(), taskSources.threads());
    taskSettings
        .controls()
        .pauses()
        .onChange(() -> scheduler.controlled().onPausesChanged(scheduler::advance));
  }

  /// Rejects what [#submit] would reject in a new context.
  public void check(Submission submission) {
    checkOpen();
    messageIntake.checkNew(submission);
    taskSettings.controls().budgets().check(submission.account(), "", Budgets.NEW_TASK);
  }

  private void checkOpen() {
    if (runQueue.closed()) {
      throw new Rejection.Unavailable("the server is stopping and accepts no more tasks");
    }
    if (runQueue.waiting() >= taskSettings.limits().maxQueuedContexts()) {
      throw new Rejection.Busy("server-busy", "too many tasks are waiting");
    }
  }

  /// Appends a message and its task in one step, and starts or queues the task.
  public AcceptedMessage submit(Submission submission) {
    checkOpen();
    recovery.check(submission.context());
    var validatedSubmission = checked(submission);
    var whenBusy = Optional.ofNullable(submission.options().whenBusy()).orElse(WhenBusy.ENQUEUE);
    if (whenBusy != WhenBusy.ENQUEUE) {
      writeHeldBack(submission.context());
    }
    var acceptedMessage =
        switch (whenBusy) {
          case ENQUEUE, REJECT -> messageIntake.appendOrQueue(validatedSubmission).accepted();
          case INTERRUPT -> interrupt(validatedSubmission);
          case ROLLBACK -> rollBack(validatedSubmission);
          case STEER -> steer(validatedSubmission);
        };
    taskSettings.failPoint().reach("submitted");
    scheduler.advance(submission.context());
    return acceptedMessage;
  }

  /// The valid submission, unless a budget for its task is used up.
  private MessageIntake.ValidatedSubmission checked(Submission submission) {
    var valid = messageIntake.check(submission);
    taskSettings
        .controls()
        .budgets()
        .check(submission.account(), valid.origin().agentId().value(), Budgets.NEW_TASK);
    return valid;
  }

  /// The running task may have asked its model before it has begun in the log. What a message or a
  /// cancellation does to it must not depend on that.
  private void writeHeldBack(ContextId context) {
    runQueue.runs().stream()
        .filter(taskRun -> taskRun.context().equals(context))
        .forEach(TaskRun::writeHeldBack);
  }

  private AcceptedMessage interrupt(MessageIntake.ValidatedSubmission validatedSubmission) {
    var acceptedMessage = messageIntake.appendOrQueue(validatedSubmission).accepted();
    stopRequested(acceptedMessage.contextId(), task -> !task.equals(acceptedMessage.taskId()));
    return acceptedMessage;
  }

  private AcceptedMessage steer(MessageIntake.ValidatedSubmission validatedSubmission) {
    var running =
        log.inspect(
            validatedSubmission.submission().context(),
            state -> ContextSchedule.running(state).map(OpenTask::origin));
    if (running.isEmpty()) {
      return messageIntake.appendOrQueue(validatedSubmission).accepted();
    }
    var acceptedMessage =
        messageIntake.steer(validatedSubmission, running.get().taskId()).accepted();
    runQueue.runs().stream()
        .filter(taskRun -> taskRun.origin().rootTaskId().equals(running.get().taskId()))
        .forEach(TaskRun::signal);
    return acceptedMessage;
  }

  private AcceptedMessage rollBack(MessageIntake.ValidatedSubmission validatedSubmission) {
    var context = validatedSubmission.submission().context();
    var taken =
        log.inspect(context, s -> ContextSchedule.roots(s).findFirst().map(Tasks::rollbackTarget))
            .orElse(null);
    for (var attempt = 1; ; attempt++) {
      // Read before the append: if the same request was processed before, its task is among these,
      // and the append below returns the original answer. So that task is never canceled.
      var inTheWay = open(context, _ -> true);
      try {
        // The rewind event can only be computed after the rewound task has ended.
        var head = log.head(context);
        var back =
            Optional.ofNullable(taken)
                .map(
                    rollbackTarget ->
                        contextHistory
                            .rewindEvent(context, rollbackTarget.toSeq(), rollbackTarget.task())
                            .by(validatedSubmission.submission().principal()));
        return messageIntake
            .replace(
                validatedSubmission,
                state -> {
                  if (back.isPresent() && !state.head().equals(head)) {
                    throw new Rejection.Conflict("busy", "the context has changed");
                  }
                  return back.map(EventDraft::of).stream().toList();
                })
            .accepted();
      } catch (Rejection.Conflict busy) {
        if (!busy.code().equals("busy") || attempt == ROLLBACK_ATTEMPTS_MAX) {
          throw busy;
        }
      }
      if (taken == null) {
        taken =
            log.inspect(
                    context, s -> ContextSchedule.roots(s).findFirst().map(Tasks::rollbackTarget))
                .orElse(null);
      }
      taskSettings.failPoint().reach("before-rollback-cancel");
      cancel(context, inTheWay, "rolled back", validatedSubmission.submission().principal());
    }
  }

  /// Rewinds the context and appends a message there, in one step.
  ///
  /// @throws Rejection.Conflict `busy` if a task of the context has not ended
  public AcceptedMessage submit(Submission submission, Supplier<Rewinder.RewindPlan> rewind) {
    return submit(submission, rewind, List.of());
  }

  /// The same, with the messages `between` after the rewind; they have no task.
  public AcceptedMessage submit(
      Submission submission, Supplier<Rewinder.RewindPlan> rewind, List<EventDraft> between) {
    recovery.check(submission.context());
    var validatedSubmission = checked(submission);
    for (var attempt = 1; ; attempt++) {
      var rewindPlan = rewind.get();
      try {
        var acceptedMessage =
            messageIntake
                .replace(
                    validatedSubmission,
                    state ->
                        Stream.concat(
                                Stream.of(
                                    EventDraft.of(
                                        rewindPlan.event(state).by(submission.principal()))),
                                between.stream())
                            .toList())
                .accepted();
        scheduler.advance(submission.context());
        return acceptedMessage;
      } catch (Rejection.Stale movedOn) {
        if (attempt == ROLLBACK_ATTEMPTS_MAX) {
          throw movedOn;
        }
      }
    }
  }

  private record RollbackTarget(long toSeq, TaskId task) {}

  /// Right before the task's own message, which is the event before its `task-created`.
  private static RollbackTarget rollbackTarget(OpenTask task) {
    var message = task.created().messageId() == null ? 0 : 1;
    return new RollbackTarget(task.createdSeq() - 1 - message, task.origin().taskId());
  }

  /// Requests cancellation of a task and all its descendants. Returns when the request is durable;
  /// no-op if the task has ended.
  public void cancel(ContextId context, TaskId task, String principal, @Nullable String reason) {
    recovery.check(context);
    if (!log.inspect(context, state -> state.openTask(task).isPresent())) {
      if (!contextHistory.hasTask(context, task)) {
        throw new Rejection.NotFound("no such task: " + task);
      }
      return;
    }
    writeHeldBack(context);
    var request = new CancelRequested(principal, reason);
    log.append(context, AppendGuard.none(), state -> ContextSchedule.cancel(state, task, request));
    taskSettings.failPoint().reach("cancel-requested");
    stopRequested(context, _ -> true);
  }

  /// Stops the runs of tasks whose cancellation was requested, children first.
  private void stopRequested(ContextId context, Predicate<TaskId> which) {
    for (var task : open(context, OpenTask::cancelRequested).reversed()) {
      if (which.test(task)) {
        runQueue
            .find(task)
            .ifPresent(taskRun -> scheduler.stop(taskRun, TaskEnding.canceled(null)));
      }
    }
    scheduler.advance(context);
  }

  /// Cancels one running tool call, and the sub-agents that it spawned; its task continues.
  public void cancelTool(ContextId context, TaskId task, ToolCallId call, String principal) {
    recovery.check(context);
    log.append(
        context,
        AppendGuard.none(),
        state -> ToolCallCancellation.of(state, task, call, principal));
    runQueue.find(task).ifPresent(taskRun -> taskRun.cancelCall(call));
    stopRequested(context, _ -> true);
  }

  /// Answers a question. Returns the position of the answer when it is durable.
  ///
  /// @throws Rejection.NotFound if there was never such a question
  /// @throws Rejection.Conflict `not-wanted` if the question was answered or has lapsed
  /// @throws Rejection.Invalid if the answer is not valid; the question stays open
  /// @throws Rejection.Forbidden if the answer is an approval and the caller may not approve; the
  ///     question stays open
  public AppendResult answer(
      ContextId context, InputId input, JsonNode value, Answerer by, AppendGuard appendGuard) {
    return answer(context, Map.of(input, value), null, by, appendGuard);
  }

  /// Answers several questions at once, all or none; `metadata` is added to each answer.
  ///
  /// @throws Rejection like the method for one answer
  public AppendResult answer(
      ContextId context,
      Map<InputId, JsonNode> values,
      @Nullable ObjectNode metadata,
      Answerer by,
      AppendGuard appendGuard) {
    recovery.check(context);
    return taskQuestions.answer(
        context, values, new TaskQuestions.AnswerDetails(by, appendGuard, metadata));
  }

  /// Records that a person completed a sign-in; the credentials are stored separately and never in
  /// the log.
  ///
  /// @throws Rejection.NotFound if there was never such a sign-in
  /// @throws Rejection.Conflict `not-wanted` if the sign-in was completed before or has lapsed
  /// @throws Rejection.Forbidden if this caller may not sign in
  public AppendResult completeSignIn(
      ContextId context,
      AuthId auth,
      Answerer by,
      @Nullable ObjectNode metadata,
      AppendGuard appendGuard) {
    recovery.check(context);
    return taskQuestions.completeSignIn(
        context, auth, metadata, new TaskQuestions.AnswerDetails(by, appendGuard, null));
  }

  /// Appends answers, and the message that comes with them for the waiting task, all or none.
  /// Returns their positions when they are durable.
  ///
  /// @param allowed may reject, given the current state of the context
  /// @throws Rejection.Conflict `not-wanted` if one of the questions is not open
  /// @throws Rejection.Invalid if one of the answers is not valid
  /// @throws Rejection.Forbidden if one of them is an approval and the caller may not approve
  public AppendResult resume(TaskResumption taskResumption, Consumer<ContextState> allowed) {
    recovery.check(taskResumption.context());
    var said = taskResumption.message();
    var message = said == null ? null : messageIntake.steeringMessage(messageIntake.check(said));
    return taskQuestions.resume(
        taskResumption,
        state -> {
          allowed.accept(state);
          return message == null ? List.of() : List.of(message.apply(state));
        });
  }

  /// Cancels every task of a context and returns when all have ended. `principal` is null if the
  /// server itself cancels them.
  public void cancelAll(ContextId context, String reason, @Nullable String principal) {
    recovery.await(context);
    cancel(context, open(context, _ -> true), reason, principal);
  }

  private void cancel(
      ContextId context, List<TaskId> tasks, String reason, @Nullable String principal) {
    writeHeldBack(context);
    log.append(
        context,
        AppendGuard.none(),
        state ->
            tasks.reversed().stream()
                .flatMap(task -> state.openTask(task).stream())
                .flatMap(
                    task ->
                        ContextSchedule.cancel(state, task, new CancelRequested(principal, reason))
                            .stream())
                .toList());
    stopRequested(context, tasks::contains);
    try {
      for (var head = log.head(context);
          !open(context, task -> tasks.contains(task.origin().taskId())).isEmpty();
          head = log.head(context)) {
        if (!log.await(context, head, taskSettings.limits().stopGrace().plusSeconds(5))) {
          throw new Rejection.Busy("still-running", "the context's tasks could not be stopped");
        }
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("the server is stopping");
    }
  }

  private List<TaskId> open(ContextId context, Predicate<OpenTask> which) {
    return log.inspect(
        context,
        state ->
            state.openTasks().stream().filter(which).map(task -> task.origin().taskId()).toList());
  }

  /// Resumes every task that the previous run of the server left open. Returns immediately: see
  /// [ContextRecovery].
  public void recover() {
    recovery.start(log.withOpenTasks(), this::recover);
  }

  private void recover(ContextId context) {
    var left =
        log.inspect(
            context,
            state ->
                state.openTasks().stream()
                    .filter(OpenTask::started)
                    .map(task -> TaskRun.TaskDetails.of(context, task))
                    .toList());
    runQueue.addLeftOpen(open(context, _ -> true));
    var hosted = open(context, ContextSchedule::isHosted);
    for (var task : crashed(context)) {
      LOGGER.log(
          System.Logger.Level.ERROR,
          "task {0} of context {1} is ended: the server crashed each time it resumed the task",
          task,
          context);
      scheduler.endTree(context, task, TaskEnding.crashed(RECOVERIES_MAX + 1));
    }
    for (var task : left.reversed()) {
      var agent = taskSettings.agents().byId().get(task.origin().agentId());
      if (agent == null || !agent.resumes() || hosted.contains(task.origin().taskId())) {
        scheduler.endTree(context, task.origin().taskId(), TaskEnding.interrupted());
      }
    }
    scheduler.questionTimers().lapseLive(context);
    scheduler.questionTimers().start(context);
    left.forEach(scheduler::resumeClock);
    scheduler.controlled().stopClocks(context);
    scheduler.advance(context);
  }

  /// Tasks that were resumed too often without making progress: most likely they crash the server.
  private List<TaskId> crashed(ContextId context) {
    return open(
            context,
            task ->
                task.state() == TaskState.WORKING
                    && task.recoveries() >= RECOVERIES_MAX
                    && !task.cancelRequested())
        .reversed();
  }

  /// The working directory of the first message of a context, unless it names another.
  public Path defaultWorkingDirectory() {
    return taskSettings.workspaces().first();
  }

  /// The active pauses, each with the number of tasks that wait for its end.
  public List<PauseView> pauses() {
    return scheduler.controlled().counted();
  }

  /// The number of running tasks.
  public int running() {
    return runQueue.running();
  }

  /// The number of waiting root tasks, in contexts in which a task runs or is about to run.
  public int queued() {
    return runQueue.contexts().stream()
        .mapToInt(
            context -> {
              try {
                return log.inspect(context, state -> ContextSchedule.waiting(state).size());
              } catch (Rejection.NotFound | Rejection.Gone deleted) {
                return 0;
              }
            })
        .sum();
  }

  /// Does the same as [#drain] when another server resumes the tasks at once. Only tasks that call
  /// tools may run on, because such a call may have effects and is perhaps not repeated.
  public void handOver(Duration patience) {
    recovery.close();
    runQueue.close();
    runQueue.runs().stream()
        .filter(taskRun -> taskRun.calls().isEmpty())
        .forEach(taskRun -> scheduler.stop(taskRun, TaskEnding.SERVER_STOPPING));
    drain(patience);
  }

  /// Accepts no more tasks and waits for the running ones, at most `patience`; the next start
  /// resumes the rest.
  public void drain(Duration patience) {
    recovery.close();
    runQueue.close();
    try {
      runQueue.awaitIdle(patience);
      runQueue.runs().forEach(taskRun -> scheduler.stop(taskRun, TaskEnding.SERVER_STOPPING));
      runQueue.awaitEmpty(taskSettings.limits().stopGrace().plusMillis(500));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    drain(Duration.ZERO);
    scheduler.close();
  }
}
