package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.log.OpenTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
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
final class Runner implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(Runner.class.getName());
  private static final Duration RETRY_PAUSE = Duration.ofSeconds(1);

  /// The dependencies that the runner shares with [Tasks].
  record Parts(Board board, Closer closer, Timers timers, Inputs inputs) {}

  private record Work(List<Board.Ready> ready, List<TaskId> stoppable) {}

  private final EventLog log;
  private final Tasks.Setup setup;
  private final Board board;
  private final Closer closer;
  private final Timers timers;
  private final Inputs inputs;
  private final TaskClock clock;
  private final Below below;
  private final Run.Parts runParts;
  private final Stubborn stubborn = new Stubborn();
  private final Finisher finisher;
  private final Releases releases;
  private final IdleEnds idle;
  private final Lookouts lookouts;

  Runner(EventLog log, Tasks.Setup setup, Sources sources, Parts parts) {
    this.log = log;
    this.setup = setup;
    this.board = parts.board();
    this.closer = parts.closer();
    this.timers = parts.timers();
    this.inputs = parts.inputs();
    var deadlines = new Deadlines(timers, sources.clock());
    this.clock =
        new TaskClock(
            log,
            setup.limits().taskTimeout(),
            deadlines,
            (late, ending) -> fail(late.context(), late.origin().taskId(), ending));
    this.below =
        new Below(
            log,
            setup.limits().stopGrace().plusSeconds(2),
            (task, ending) -> board.find(task).ifPresent(run -> stop(run, ending)),
            this::advance);
    var spawner = new Spawner(log, setup, this::advance);
    this.releases = new Releases(log, setup.agents());
    this.idle = new IdleEnds(board, releases, this::end, this::advance);
    this.finisher = new Finisher(log, sources, stubborn);
    var rest = new Rest(log, board, deadlines, this::advance);
    this.runParts =
        new Run.Parts(
            log, sources, spawner, setup.failPoint(), this::watchAsked, this::gotFurther, rest);
    this.lookouts = new Lookouts(log, setup.agents(), timers, this::advance);
  }

  /// Starts the expiry timers of all open questions of the context, and polls whether they were
  /// answered remotely.
  void watchAsked(ContextId context) {
    inputs.watch(context);
    lookouts.watch(context);
  }

  /// Starts the context's ready tasks, as far as slots are free, and ends tasks that are being
  /// canceled and do not run.
  void advance(ContextId context) {
    try {
      inputs.unwatch(context);
      while (true) {
        var work = log.inspect(context, state -> work(context, state));
        if (!idle.end(context, work.stoppable()) || stubborn.closed()) {
          work.ready().forEach(board::claim);
          work.ready().forEach(ready -> board.find(ready.task()).ifPresent(Run::signal));
          break;
        }
      }
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      // The context was deleted, so its slots are free for other tasks.
    } catch (Rejection.Unavailable storeDown) {
      timers.set(context, RETRY_PAUSE, () -> advance(context));
    } finally {
      // Whatever is wrong with this context, other contexts continue.
      startNext();
    }
  }

  /// A suspect task made progress, so the next suspect may run.
  private void gotFurther(TaskId task) {
    board.clearSuspicion(task);
    startNext();
  }

  private void startNext() {
    for (var ready : board.next()) {
      Thread.ofVirtual().name("task-" + ready.task()).start(() -> carry(ready));
    }
  }

  private static Work work(ContextId context, ContextState state) {
    return new Work(
        Lineup.ready(state).stream().map(task -> Board.Ready.of(context, task)).toList(),
        Lineup.stoppable(state));
  }

  /// Stops a run. If its agent does not stop within the grace period, the server writes the task's
  /// end anyway.
  void stop(Run run, Ending ending) {
    if (run.stop(ending) && !ending.equals(Ending.HANDED_BACK)) {
      timers.set(run, setup.limits().stopGrace(), () -> force(run, ending));
    }
  }

  private void force(Run run, Ending ending) {
    if (board.find(run.taskId()).filter(found -> found == run).isPresent()) {
      LOGGER.log(
          System.Logger.Level.WARNING,
          "task {0} of context {1} did not stop within the grace period",
          run.taskId(),
          run.context());
      endTree(run, ending);
      release(run.context(), run.taskId());
    }
  }

  private void carry(Board.Ready ready) {
    try {
      work(ready);
    } catch (Throwable broken) { // The root of a thread: ends this run, never the server.
      LOGGER.log(System.Logger.Level.ERROR, "task " + ready.task() + " failed", broken);
      giveUp(ready);
    } finally {
      release(ready.context(), ready.task());
    }
  }

  private void giveUp(Board.Ready ready) {
    try {
      var ending = Ending.failed(ErrorCode.INTERNAL, "the task failed unexpectedly", true);
      endTree(ready.context(), ready.task(), ending);
    } catch (RuntimeException again) {
      LOGGER.log(
          System.Logger.Level.ERROR, "the end of task " + ready.task() + " was not written", again);
      board.abandon(ready.task());
    }
  }

  private void release(ContextId context, TaskId task) {
    board.release(task);
    advance(context);
  }

  private void work(Board.Ready ready) {
    var prepared = new AtomicReference<Optional<Run>>(Optional.empty());
    stubborn.write(
        () -> {
          prepared.set(prepare(ready));
          return true;
        });
    var run = prepared.get().orElse(null);
    if (run == null) {
      return;
    }
    if (ready.suspect()) {
      run.suspect();
    }
    board.put(run);
    // The server is stopping: the task was not started, and stays queued for the next start.
    if (run.stopped().filter(Ending.HANDED_BACK::equals).isPresent()) {
      return;
    }
    if (!begin(run)) {
      clock.forget(run.taskId());
    } else {
      run.reach("begun");
      var agent = setup.agents().get(run.origin().agentId());
      while (!conclude(run, agent, perform(run, agent))) {
        // There are new entries that the agent has not read.
        run.restart();
      }
      timers.clear(run);
    }
  }

  /// The run of a task that is still open. Ends the task if it cannot run any more.
  private Optional<Run> prepare(Board.Ready ready) {
    try {
      return log.inspect(
              ready.context(),
              state ->
                  state
                      .openTask(ready.task())
                      .map(task -> TaskClock.subject(ready.context(), task)))
          .map(this::prepare);
    } catch (Rejection.Invalid changed) {
      var message = String.valueOf(changed.getMessage());
      var ending = Ending.failed(ErrorCode.INVALID_INPUT, message, false);
      endTree(ready.context(), ready.task(), ending);
      return Optional.empty();
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return Optional.empty();
    }
  }

  private Run prepare(Run.Subject subject) {
    setup.agents().choose(subject.origin().agentId());
    var recorded = subject.created().workingDirectory();
    var directory =
        setup.workspaces().resolve(recorded, () -> Stream.ofNullable(recorded).toList());
    return new Run(runParts, subject, new Run.Bounds(directory, clock.start(subject)));
  }

  /// Ends a task, running or waiting, whose time or whose question has expired.
  void fail(ContextId context, TaskId task, Ending ending) {
    if (board.find(task).isEmpty()) {
      endTree(context, task, ending);
      advance(context);
    }
    // Also if it was started in the meantime.
    board.find(task).ifPresent(late -> fail(late, ending));
  }

  private void fail(Run run, Ending ending) {
    var asked = ending.unanswered();
    // Let the question lapse before stopping the run: either it is closed now, or it was answered
    // and the task continues.
    if (asked == null || closer.lapse(run.context(), run.taskId(), asked)) {
      stop(run, ending.anyway());
    }
  }

  /// False if the task has ended or is being canceled, or if another root task runs; in the last
  /// case this task runs later.
  private boolean begin(Run run) {
    var canceled = new AtomicBoolean();
    var begun =
        stubborn.write(
            () -> {
              log.append(run.context(), Guard.none(), state -> begin(run, state, canceled));
              return !canceled.get();
            });
    if (canceled.get()) {
      endTree(run, Ending.canceled(null));
    }
    return begun;
  }

  private static List<Draft> begin(Run run, ContextState state, AtomicBoolean canceled) {
    var task = state.openTask(run.taskId()).orElse(null);
    if (task == null) {
      throw new Rejection.Conflict("task-ended", "the task has ended: " + run.taskId());
    }
    canceled.set(task.cancelRequested());
    if (task.cancelRequested()) {
      return List.of();
    }
    if (!task.started()
        && task.origin().parentTaskId() == null
        && Lineup.running(state).isPresent()) {
      throw new Rejection.Conflict("busy", "a task of this context is running");
    }
    // A task whose state is already WORKING was interrupted by a crash, as only this thread runs
    // it.
    var metadata =
        task.state() == TaskState.WORKING ? Json.object().put(WorkTime.RECOVERED, true) : null;
    return List.of(new Draft(run.origin(), new TaskStatus(TaskState.WORKING, null, metadata)));
  }

  private Outcome perform(Run run, Agent agent) {
    try {
      return run.enter() ? agent.work(run) : stopped();
    } catch (InterruptedException stopped) {
      return stopped();
    } catch (Rejection refused) {
      // Usually the task has ended already, and then nothing is written.
      return new Outcome.Failed(ErrorCode.INTERNAL, String.valueOf(refused.getMessage()), true);
    } catch (Throwable broken) { // The root of a thread, nearly: an agent's bug must end its task.
      LOGGER.log(
          System.Logger.Level.ERROR, "the agent of task " + run.taskId() + " failed", broken);
      return new Outcome.Failed(ErrorCode.INTERNAL, "the agent failed unexpectedly", false);
    } finally {
      run.leave();
    }
  }

  private static Outcome stopped() {
    return new Outcome.Failed(ErrorCode.INTERRUPTED, "the task was interrupted", true);
  }

  /// Writes the result of the work. False if the agent must be called again.
  private boolean conclude(Run run, Agent agent, Outcome outcome) {
    var stop = run.stopped().orElse(null);
    if (stop != null && stop.equals(Ending.HANDED_BACK) && agent.resumes()) {
      handBack(run);
      return true;
    }
    var ending = stop == null || !stop.equals(Ending.HANDED_BACK) ? stop : Ending.interrupted();
    switch (outcome) {
      case Outcome.Completed completed -> {
        var refusal = finisher.complete(run, agent, completed);
        if (refusal.equals(Finisher.CHILDREN) && ending == null) {
          stopBelow(run.context(), run.taskId(), "the parent task is done");
          refusal = finisher.complete(run, agent, completed);
        }
        if (refusal.equals(Finisher.NEWS) && ending == null) {
          return false;
        }
        clock.forget(run.taskId());
        if (!refusal.isEmpty()) {
          endTree(run, ending == null ? Ending.canceled(null) : ending);
        }
      }
      case Outcome.Failed(var code, var message, var retryable) ->
          endTree(run, ending == null ? failed(run, code, message, retryable) : ending);
      case Outcome.Parked parked -> {
        if (ending != null) {
          endTree(run, ending);
          return true;
        }
        var refusal = finisher.park(run, parked);
        if (refusal.equals(Finisher.NEWS)) {
          return false;
        }
        if (refusal.equals(Finisher.CANCEL_REQUESTED)) {
          endTree(run, Ending.canceled(null));
        } else if (run.stopped().filter(late -> !late.equals(Ending.HANDED_BACK)).isPresent()) {
          // The deadline passed while the status was written.
          endTree(run, run.stopped().get());
        } else {
          clock.parked(run.subject());
        }
      }
    }
    return true;
  }

  /// Writes that the server, and not a crash, interrupted the task. If the append fails, nothing is
  /// lost.
  private void handBack(Run run) {
    try {
      run.emitUnlessCanceled(
          List.of(
              new TaskStatus(
                  TaskState.WORKING, null, Json.object().put(WorkTime.HANDED_BACK, true))));
    } catch (Rejection refused) {
      LOGGER.log(
          System.Logger.Level.DEBUG,
          "task {0} was not marked as handed back: {1}",
          run.taskId(),
          refused);
    }
  }

  /// An error is not a failure if the task is being canceled.
  private Ending failed(Run run, ErrorCode code, String message, boolean retryable) {
    var canceled =
        log.inspect(
            run.context(),
            state -> state.openTask(run.taskId()).filter(OpenTask::cancelRequested).isPresent());
    return canceled ? Ending.canceled(null) : Ending.failed(code, message, retryable);
  }

  /// Writes the end of a task that does not run. False if that is not possible, or its question was
  /// answered.
  boolean end(ContextId context, TaskId task, Ending ending) {
    var answered = new AtomicBoolean();
    var ended =
        stubborn.write(
            () -> {
              answered.set(!closer.end(context, task, ending));
              setup.failPoint().reach("after-end");
              return true;
            });
    if (answered.get()) {
      return false;
    }
    clock.forget(task);
    if (!ended) {
      board.abandon(task);
    }
    return ended;
  }

  private void endTree(Run run, Ending ending) {
    // The agent has returned or does not stop: further text from it would conflict with the end
    // that is being written.
    run.shut();
    endTree(run.context(), run.taskId(), ending);
  }

  /// Cancels all subtasks, waits a limited time for their ends, and writes the task's own end.
  void endTree(ContextId context, TaskId task, Ending ending) {
    // The ends of its subtasks would wake the task, and it would continue.
    var _ = board.bar(task);
    try {
      stopBelow(context, task, ending.reason());
      setup.failPoint().reach("below-ended");
      releases.letGo(context, task);
      end(context, task, ending);
    } finally {
      board.unbar(task);
    }
  }

  private void stopBelow(ContextId context, TaskId task, String reason) {
    stubborn.write(
        () -> {
          below.stop(context, task, reason);
          return true;
        });
  }

  /// Starts the clock of a waiting task after a restart.
  void watchParked(Run.Subject subject) {
    clock.watch(subject);
  }

  @Override
  public void close() {
    stubborn.close();
  }
}
