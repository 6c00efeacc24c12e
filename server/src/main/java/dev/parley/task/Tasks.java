package dev.parley.task;

import dev.parley.log.Appended;
import dev.parley.log.ContextState;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.log.OpenTask;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
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

  /// The agents, folders and limits of tasks.
  public record Setup(Agents agents, Workspaces workspaces, Limits limits, FailPoint failPoint) {}

  private final EventLog log;
  private final History history;
  private final Setup setup;
  private final Admission admission;
  private final Board board;
  private final Timers timers = new Timers();
  private final Inputs inputs;
  private final Runner runner;
  private final ContextRecovery recovery = new ContextRecovery();

  public Tasks(EventLog log, History history, Setup setup, Sources sources) {
    this.log = log;
    this.history = history;
    this.setup = setup;
    this.admission = new Admission(log, history, setup, sources);
    this.board = new Board(setup.limits().maxConcurrentTasks());
    var closer = new Closer(log, sources);
    this.inputs =
        new Inputs(
            new Inputs.Parts(log, history, sources, timers),
            new Inputs.Reactions(setup.limits().whenInputLapses(), this::moved, this::fail));
    this.runner = new Runner(log, setup, sources, new Runner.Parts(board, closer, timers, inputs));
  }

  /// Rejects what [#submit] would reject in a new context.
  public void check(Submission submission) {
    checkOpen();
    admission.checkNew(submission);
  }

  private void checkOpen() {
    if (board.closed()) {
      throw new Rejection.Unavailable("the server is stopping and accepts no more tasks");
    }
    if (board.waiting() >= setup.limits().maxQueuedContexts()) {
      throw new Rejection.Busy("server-busy", "too many tasks are waiting");
    }
  }

  /// Appends a message and its task in one step, and starts or queues the task.
  public Accepted submit(Submission submission) {
    checkOpen();
    recovery.check(submission.context());
    var order = admission.check(submission);
    var whenBusy = Optional.ofNullable(submission.options().whenBusy()).orElse(WhenBusy.ENQUEUE);
    var accepted =
        switch (whenBusy) {
          case ENQUEUE, REJECT -> admission.enter(order).accepted();
          case INTERRUPT -> interrupt(order);
          case ROLLBACK -> rollBack(order);
          case STEER -> steer(order);
        };
    setup.failPoint().reach("submitted");
    runner.advance(submission.context());
    return accepted;
  }

  private Accepted interrupt(Admission.Order order) {
    var accepted = admission.enter(order).accepted();
    stopRequested(accepted.contextId(), task -> !task.equals(accepted.taskId()));
    return accepted;
  }

  private Accepted steer(Admission.Order order) {
    var running =
        log.inspect(
            order.submission().context(), state -> Lineup.running(state).map(OpenTask::origin));
    if (running.isEmpty()) {
      return admission.enter(order).accepted();
    }
    var accepted = admission.steer(order, running.get().taskId()).accepted();
    board.runs().stream()
        .filter(run -> run.origin().rootTaskId().equals(running.get().taskId()))
        .forEach(Run::signal);
    return accepted;
  }

  private Accepted rollBack(Admission.Order order) {
    var context = order.submission().context();
    var taken =
        log.inspect(context, s -> Lineup.roots(s).findFirst().map(Tasks::before)).orElse(null);
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
                    before ->
                        history
                            .rewound(context, before.toSeq(), before.task())
                            .by(order.submission().principal()));
        return admission
            .replace(
                order,
                state -> {
                  if (back.isPresent() && !state.head().equals(head)) {
                    throw new Rejection.Conflict("busy", "the context has changed");
                  }
                  return back.map(Draft::of).stream().toList();
                })
            .accepted();
      } catch (Rejection.Conflict busy) {
        if (!busy.code().equals("busy") || attempt == ROLLBACK_ATTEMPTS_MAX) {
          throw busy;
        }
      }
      if (taken == null) {
        taken =
            log.inspect(context, s -> Lineup.roots(s).findFirst().map(Tasks::before)).orElse(null);
      }
      setup.failPoint().reach("before-rollback-cancel");
      cancel(context, inTheWay, "rolled back", order.submission().principal());
    }
  }

  /// Rewinds the context and appends a message there, in one step.
  ///
  /// @throws Rejection.Conflict `busy` if a task of the context has not ended
  public Accepted submit(Submission submission, Supplier<Rewinder.Plan> rewind) {
    return submit(submission, rewind, List.of());
  }

  /// The same, with the messages `between` after the rewind; they have no task.
  public Accepted submit(
      Submission submission, Supplier<Rewinder.Plan> rewind, List<Draft> between) {
    recovery.check(submission.context());
    var order = admission.check(submission);
    for (var attempt = 1; ; attempt++) {
      var plan = rewind.get();
      try {
        var accepted =
            admission
                .replace(
                    order,
                    state ->
                        Stream.concat(
                                Stream.of(Draft.of(plan.event(state).by(submission.principal()))),
                                between.stream())
                            .toList())
                .accepted();
        runner.advance(submission.context());
        return accepted;
      } catch (Rejection.Stale movedOn) {
        if (attempt == ROLLBACK_ATTEMPTS_MAX) {
          throw movedOn;
        }
      }
    }
  }

  private record Before(long toSeq, TaskId task) {}

  /// Right before the task's own message, which is the event before its `task-created`.
  private static Before before(OpenTask task) {
    var message = task.created().messageId() == null ? 0 : 1;
    return new Before(task.createdSeq() - 1 - message, task.origin().taskId());
  }

  /// Requests cancellation of a task and all its descendants. Returns when the request is durable;
  /// no-op if the task has ended.
  public void cancel(ContextId context, TaskId task, String principal, @Nullable String reason) {
    recovery.check(context);
    if (!log.inspect(context, state -> state.openTask(task).isPresent())) {
      if (!history.knows(context, task)) {
        throw new Rejection.NotFound("no such task: " + task);
      }
      return;
    }
    var request = new CancelRequested(principal, reason);
    log.append(context, Guard.none(), state -> Lineup.cancel(state, task, request));
    setup.failPoint().reach("cancel-requested");
    stopRequested(context, _ -> true);
  }

  /// Stops the runs of tasks whose cancellation was requested, children first.
  private void stopRequested(ContextId context, Predicate<TaskId> which) {
    for (var task : open(context, OpenTask::cancelRequested).reversed()) {
      if (which.test(task)) {
        board.find(task).ifPresent(run -> runner.stop(run, Ending.canceled(null)));
      }
    }
    runner.advance(context);
  }

  /// Cancels one running tool call, and the sub-agents that it spawned; its task continues.
  public void cancelTool(ContextId context, TaskId task, ToolCallId call, String principal) {
    recovery.check(context);
    log.append(context, Guard.none(), state -> CanceledCall.of(state, task, call, principal));
    board.find(task).ifPresent(run -> run.cancelCall(call));
    stopRequested(context, _ -> true);
  }

  /// Answers a question. Returns the position of the answer when it is durable.
  ///
  /// @throws Rejection.NotFound if there was never such a question
  /// @throws Rejection.Conflict `not-wanted` if the question was answered or has lapsed
  /// @throws Rejection.Invalid if the answer is not valid; the question stays open
  /// @throws Rejection.Forbidden if the answer is an approval and the caller may not approve; the
  ///     question stays open
  public Appended answer(
      ContextId context, InputId input, JsonNode value, Answerer by, Guard guard) {
    return answer(context, Map.of(input, value), null, by, guard);
  }

  /// Answers several questions at once, all or none; `metadata` is added to each answer.
  ///
  /// @throws Rejection like the method for one answer
  public Appended answer(
      ContextId context,
      Map<InputId, JsonNode> values,
      @Nullable ObjectNode metadata,
      Answerer by,
      Guard guard) {
    recovery.check(context);
    return inputs.answer(context, values, new Inputs.Answering(by, guard, metadata));
  }

  /// Records that a person completed a sign-in; the credentials are stored separately and never in
  /// the log.
  ///
  /// @throws Rejection.NotFound if there was never such a sign-in
  /// @throws Rejection.Conflict `not-wanted` if the sign-in was completed before or has lapsed
  /// @throws Rejection.Forbidden if this caller may not sign in
  public Appended signedIn(
      ContextId context, AuthId auth, Answerer by, @Nullable ObjectNode metadata, Guard guard) {
    recovery.check(context);
    return inputs.signedIn(context, auth, metadata, new Inputs.Answering(by, guard, null));
  }

  /// Appends answers, and the message that comes with them for the waiting task, all or none.
  /// Returns their positions when they are durable.
  ///
  /// @param allowed may reject, given the current state of the context
  /// @throws Rejection.Conflict `not-wanted` if one of the questions is not open
  /// @throws Rejection.Invalid if one of the answers is not valid
  /// @throws Rejection.Forbidden if one of them is an approval and the caller may not approve
  public Appended resume(Resumption resumption, Consumer<ContextState> allowed) {
    recovery.check(resumption.context());
    var said = resumption.said();
    var order = said == null ? null : admission.check(said);
    return inputs.resume(
        resumption,
        state -> {
          allowed.accept(state);
          return order == null ? List.of() : List.of(admission.spoken(state, order));
        });
  }

  private void moved(Inputs.Moved moved) {
    setup.failPoint().reach("answered");
    moved.tasks().forEach(task -> board.find(task).ifPresent(Run::signal));
    runner.advance(moved.context());
  }

  private void fail(ContextId context, TaskId task, Ending ending) {
    runner.fail(context, task, ending);
  }

  /// Cancels every task of a context and returns when all have ended. `principal` is null if the
  /// server itself cancels them.
  public void cancelAll(ContextId context, String reason, @Nullable String principal) {
    recovery.await(context);
    cancel(context, open(context, _ -> true), reason, principal);
  }

  private void cancel(
      ContextId context, List<TaskId> tasks, String reason, @Nullable String principal) {
    log.append(
        context,
        Guard.none(),
        state ->
            tasks.reversed().stream()
                .flatMap(task -> state.openTask(task).stream())
                .flatMap(
                    task ->
                        Lineup.cancel(state, task, new CancelRequested(principal, reason)).stream())
                .toList());
    stopRequested(context, tasks::contains);
    try {
      for (var head = log.head(context);
          !open(context, task -> tasks.contains(task.origin().taskId())).isEmpty();
          head = log.head(context)) {
        if (!log.await(context, head, setup.limits().stopGrace().plusSeconds(5))) {
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
                    .map(
                        task ->
                            new Run.Subject(
                                context, task.origin(), task.created(), task.createdSeq()))
                    .toList());
    var hosted = open(context, Hosted::is);
    for (var task : crashed(context)) {
      LOGGER.log(
          System.Logger.Level.ERROR,
          "task {0} of context {1} is ended: the server crashed each time it resumed the task",
          task,
          context);
      runner.endTree(context, task, Ending.crashed(RECOVERIES_MAX + 1));
    }
    for (var task : left.reversed()) {
      var agent = setup.agents().byId().get(task.origin().agentId());
      if (agent == null || !agent.resumes() || hosted.contains(task.origin().taskId())) {
        runner.endTree(context, task.origin().taskId(), Ending.interrupted());
      }
    }
    inputs.lapseLive(context);
    runner.watchAsked(context);
    left.forEach(runner::watchParked);
    runner.advance(context);
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

  /// The number of running tasks.
  public int running() {
    return board.running();
  }

  /// The number of waiting root tasks, in contexts in which a task runs or is about to run.
  public int queued() {
    return board.contexts().stream()
        .mapToInt(
            context -> {
              try {
                return log.inspect(context, state -> Lineup.waiting(state).size());
              } catch (Rejection.NotFound | Rejection.Gone deleted) {
                return 0;
              }
            })
        .sum();
  }

  /// Accepts no more tasks and waits for the running ones, at most `patience`; the next start
  /// resumes the rest.
  public void drain(Duration patience) {
    recovery.close();
    board.close();
    try {
      board.awaitIdle(patience);
      board.runs().forEach(run -> runner.stop(run, Ending.HANDED_BACK));
      board.awaitEmpty(setup.limits().stopGrace().plusMillis(500));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    drain(Duration.ZERO);
    runner.close();
    timers.close();
  }
}
