package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/// Runs tasks, each on a virtual thread of its own, and writes how they end.
final class Runner implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(Runner.class.getName());
  private static final Duration RETRY_PAUSE = Duration.ofMillis(500);

  /// What a runner shares with [Tasks].
  record Parts(Board board, Closer closer) {}

  private final EventLog log;
  private final Tasks.Setup setup;
  private final Sources sources;
  private final Board board;
  private final Closer closer;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().name("deadlines").factory());

  Runner(EventLog log, Tasks.Setup setup, Sources sources, Parts parts) {
    this.log = log;
    this.setup = setup;
    this.sources = sources;
    this.board = parts.board();
    this.closer = parts.closer();
    timer.setRemoveOnCancelPolicy(true);
  }

  /// Starts the context's next task, if none runs and there is room.
  void advance(ContextId context) {
    try {
      log.inspect(context, state -> next(context, state)).ifPresent(board::claim);
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      // Its place is free; others may want it.
    }
    for (var ready : board.next()) {
      Thread.ofVirtual().name("task-" + ready.task()).start(() -> carry(ready));
    }
  }

  private static Optional<Board.Ready> next(ContextId context, ContextState state) {
    if (Lineup.running(state).isPresent()) {
      return Optional.empty();
    }
    return Lineup.waiting(state).stream()
        .findFirst()
        .map(
            task ->
                new Board.Ready(
                    context,
                    task.origin().taskId(),
                    Optional.ofNullable(task.created().priority()).orElse(Priority.NORMAL)));
  }

  /// Stops a run; if its agent does not heed, its end is written all the same.
  void stop(Run run, Ending ending) {
    if (run.stop(ending)) {
      var grace = setup.limits().stopGrace().toMillis();
      var _ = timer.schedule(() -> force(run, ending), grace, TimeUnit.MILLISECONDS);
    }
  }

  private void force(Run run, Ending ending) {
    if (board.find(run.taskId()).isPresent()) {
      Thread.ofVirtual()
          .name("end-" + run.taskId())
          .start(
              () -> {
                LOGGER.log(
                    System.Logger.Level.WARNING,
                    "task {0} of context {1} did not stop when asked",
                    run.taskId(),
                    run.context());
                run.shut();
                end(run.context(), run.taskId(), ending);
                release(run.context(), run.taskId());
              });
    }
  }

  private void carry(Board.Ready ready) {
    try {
      work(ready);
    } catch (Throwable broken) { // The root of a thread: ends this run, never the server.
      LOGGER.log(System.Logger.Level.ERROR, "task " + ready.task() + " broke", broken);
    } finally {
      release(ready.context(), ready.task());
    }
  }

  private void release(ContextId context, TaskId task) {
    board.release(context, task);
    advance(context);
  }

  private void work(Board.Ready ready) {
    var run = prepare(ready).orElse(null);
    if (run == null) {
      return;
    }
    board.put(run);
    // Stopped before it began, it stays in the queue, for the next start of the server.
    if (run.cancelled() || !begin(run)) {
      return;
    }
    var deadline =
        timer.schedule(
            () -> stop(run, Ending.timedOut(run.timeout())),
            run.timeout().toMillis(),
            TimeUnit.MILLISECONDS);
    try {
      conclude(run, perform(run));
    } finally {
      deadline.cancel(false);
    }
  }

  /// The run of a task that is still wanted; ends one that can no longer be worked on.
  private Optional<Run> prepare(Board.Ready ready) {
    try {
      return log.inspect(
              ready.context(),
              state ->
                  state
                      .openTask(ready.task())
                      .map(task -> new Run.Subject(ready.context(), task.origin(), task.created())))
          .map(this::prepare);
    } catch (Rejection.Invalid changed) {
      var message = String.valueOf(changed.getMessage());
      var ending = Ending.failed(ErrorCode.INVALID_INPUT, message, false);
      end(ready.context(), ready.task(), ending);
      return Optional.empty();
    }
  }

  private Run prepare(Run.Subject subject) {
    var created = subject.created();
    setup.agents().choose(subject.origin().agentId());
    var directory = setup.workspaces().resolve(created.workingDirectory());
    var timeout =
        created.timeoutMs() == null
            ? setup.limits().taskTimeout()
            : Duration.ofMillis(created.timeoutMs());
    return new Run(log, subject, sources, new Run.Bounds(directory, timeout));
  }

  /// False if the task has ended before it began, or another one runs: then this one's turn will come.
  private boolean begin(Run run) {
    return stubbornly(
        () -> {
          log.append(
              run.context(),
              Guard.none(),
              state -> {
                if (Lineup.running(state).isPresent()) {
                  throw new Rejection.Conflict("busy", "a task of this context is running");
                }
                return drafts(run, List.of(new TaskStatus(TaskState.WORKING, null, null)));
              });
          return true;
        });
  }

  private Outcome perform(Run run) {
    var agent = setup.agents().get(run.origin().agentId());
    try {
      return run.enter() ? agent.work(run) : stopped();
    } catch (InterruptedException stopped) {
      return stopped();
    } catch (Rejection refused) {
      // Most often the task was ended by somebody else, and then nothing is written.
      return new Outcome.Failed(ErrorCode.INTERNAL, String.valueOf(refused.getMessage()), true);
    } catch (Throwable broken) { // The root of a thread, nearly: an agent's bug must end its task.
      LOGGER.log(System.Logger.Level.ERROR, "the agent of task " + run.taskId() + " broke", broken);
      return new Outcome.Failed(ErrorCode.INTERNAL, "the agent failed unexpectedly", false);
    } finally {
      run.leave();
    }
  }

  private static Outcome stopped() {
    return new Outcome.Failed(ErrorCode.INTERRUPTED, "the task was interrupted", true);
  }

  private void conclude(Run run, Outcome outcome) {
    switch (outcome) {
      case Outcome.Completed(var content) -> {
        if (!complete(run, content)) {
          end(run.context(), run.taskId(), run.stopped().orElse(Ending.canceled(null)));
        }
      }
      case Outcome.Failed(var code, var message, var retryable) ->
          end(
              run.context(),
              run.taskId(),
              run.stopped().orElseGet(() -> Ending.failed(code, message, retryable)));
    }
  }

  /// Writes the end of a task that succeeded. False if it was canceled before that.
  private boolean complete(Run run, String content) {
    var duration = Duration.between(run.started(), sources.clock().instant()).toMillis();
    var tally = run.tally();
    var message =
        new Message(
            sources.messageId(), Role.ASSISTANT, content, null, tally.ofMessage(content, duration));
    var events =
        List.of(
            message,
            new TaskStatus(TaskState.COMPLETED, null, null),
            new TaskComplete(content, tally.artifacts(), tally.ofTask(duration)));
    return stubbornly(
        () -> {
          log.append(
              run.context(),
              Guard.none(),
              state -> {
                var task = state.openTask(run.taskId());
                if (task.isPresent() && task.get().cancelRequested()) {
                  throw new Rejection.Conflict("cancel-requested", "the task is to be canceled");
                }
                return drafts(run, events);
              });
          return true;
        });
  }

  private void end(ContextId context, TaskId task, Ending ending) {
    stubbornly(
        () -> {
          closer.end(context, task, ending);
          return true;
        });
  }

  /// Tries until the store takes it or the server stops: a task must not hang because a disk was full.
  /// False if the log refuses, or the server stops; then the next start ends the task.
  private boolean stubbornly(BooleanSupplier write) {
    while (true) {
      try {
        return write.getAsBoolean();
      } catch (Rejection.Unavailable storeDown) {
        try {
          if (closed.await(RETRY_PAUSE.toMillis(), TimeUnit.MILLISECONDS)) {
            return false;
          }
        } catch (InterruptedException stopped) {
          Thread.currentThread().interrupt();
          return false;
        }
      } catch (Rejection.Conflict | Rejection.NotFound | Rejection.Gone | Rejection.Stale refused) {
        return false;
      }
    }
  }

  private static List<Draft> drafts(Run run, List<? extends Event> events) {
    return events.stream().map(event -> new Draft(run.origin(), event)).toList();
  }

  @Override
  public void close() {
    closed.countDown();
    timer.shutdownNow();
  }
}
