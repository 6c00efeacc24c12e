package dev.parley.task;

import dev.parley.log.AppendGuard;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageFacts;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Writes that a task begins, waits, succeeds or ends without success.
///
/// These appends must not be lost, so they are retried while the store is unavailable, until the
/// server stops: then the next start handles the task. The monitor guards `closed`.
final class TaskStatusWriter implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(TaskStatusWriter.class.getName());
  private static final Duration RETRY_PAUSE = Duration.ofMillis(500);

  /// A task that is being ended accepts no more text, see [TaskRun#fence] and [HostedSubtask#emit]:
  /// only appends that had already begun can conflict.
  private static final int END_ATTEMPTS_MAX = 1_000;

  /// The result of an append. Only `WRITTEN` added events. `REJECTED` if the task has ended, its
  /// context was deleted, or the server stops.
  enum WriteResult {
    WRITTEN,
    /// The log has new entries for the task that its agent has not read.
    NEW_ENTRIES,
    CANCEL_REQUESTED,
    OPEN_SUBTASKS,
    /// The question, on which the ending depends, was answered.
    ANSWERED,
    REJECTED
  }

  private final EventLog log;
  private final TaskSources taskSources;
  private final FailPoint failPoint;
  private boolean closed;

  TaskStatusWriter(EventLog log, TaskSources taskSources, FailPoint failPoint) {
    this.log = log;
    this.taskSources = taskSources;
    this.failPoint = failPoint;
  }

  /// Writes that the task works. `REJECTED` if it has ended, or if another root task runs; in that
  /// case this task runs later.
  WriteResult begin(TaskRun taskRun) {
    return append(
        taskRun.context(),
        state -> {
          var task = state.openTask(taskRun.taskId()).orElse(null);
          if (task == null) {
            return WriteResult.REJECTED;
          }
          if (task.cancelRequested()) {
            return WriteResult.CANCEL_REQUESTED;
          }
          ContextSchedule.checkTurn(state, task);
          return WriteResult.WRITTEN;
        },
        state -> {
          // A task that is at work was interrupted by a crash, as only this thread runs it.
          var recovered =
              state
                  .openTask(taskRun.taskId())
                  .filter(task -> task.state() == TaskState.WORKING && !task.waiting())
                  .isPresent();
          var metadata = recovered ? StatusFacts.ofRecovered() : null;
          return List.of(
              new EventDraft(taskRun.origin(), new TaskStatus(TaskState.WORKING, null, metadata)));
        });
  }

  /// Writes that the task waits, unless there are new entries for it.
  WriteResult park(TaskRun taskRun, TaskOutcome.Parked parked) {
    taskRun.reachFailPoint("before-park");
    var seen = taskRun.readPosition();
    var status = new TaskStatus(parked.state(), null, parked.metadata());
    var result =
        append(
            taskRun.context(),
            state -> conflict(taskRun, state, seen),
            _ -> List.of(new EventDraft(taskRun.origin(), status)));
    taskRun.reachFailPoint("after-park");
    return result;
  }

  /// Writes the end of a task that succeeded, unless there are new entries for it.
  WriteResult complete(TaskRun taskRun, Agent agent, TaskOutcome.Completed completed) {
    var seen = agent.resumes() ? taskRun.readPosition() : Position.of(Long.MAX_VALUE);
    // Read all entries, so that the totals are complete.
    retry(taskRun::readNewEntries);
    var now = taskSources.time().instant();
    var content = completed.content();
    var taskTotals = taskRun.totals();
    if (completed.reason() != null) {
      taskTotals.setFinishReason(completed.reason());
    }
    var message =
        new Message(
            taskSources.messageId(),
            Role.ASSISTANT,
            content,
            null,
            taskTotals.messageMetadata(content, now));
    var metadata = taskTotals.taskMetadata(content, now);
    if (completed.result() != null) {
      metadata.setAll(completed.result());
    }
    taskRun.reachFailPoint("before-complete");
    var result =
        append(
            taskRun.context(),
            state -> {
              var conflict = conflict(taskRun, state, seen);
              return conflict == WriteResult.WRITTEN
                      && ContextSchedule.children(state, taskRun.taskId()).findAny().isPresent()
                  ? WriteResult.OPEN_SUBTASKS
                  : conflict;
            },
            state -> {
              var drafts = new ArrayList<EventDraft>();
              if (taskRun.origin().parentTaskId() == null) {
                drafts.add(new EventDraft(taskRun.origin(), message));
              }
              var status = new TaskStatus(TaskState.COMPLETED, null, null);
              drafts.add(new EventDraft(taskRun.origin(), status));
              var complete = new TaskComplete(content, taskTotals.artifacts(), metadata);
              drafts.add(new EventDraft(taskRun.origin(), complete));
              var end = new ContextSchedule.SubtaskEnd(TaskState.COMPLETED, content, null);
              ContextSchedule.subtaskComplete(state, taskRun.origin(), end).ifPresent(drafts::add);
              return drafts;
            });
    taskRun.reachFailPoint("after-complete");
    return result;
  }

  /// Writes that the server, and not a crash, interrupted the task. If the append fails, nothing is
  /// lost.
  static void handBack(TaskRun taskRun) {
    handBack(taskRun, StatusFacts.ofHandedBack());
  }

  private static void handBack(TaskRun taskRun, ObjectNode metadata) {
    try {
      taskRun.emitUnlessCanceled(List.of(new TaskStatus(TaskState.WORKING, null, metadata)));
    } catch (Rejection refused) {
      LOGGER.log(
          System.Logger.Level.DEBUG,
          "task {0} was not marked as handed back: {1}",
          taskRun.taskId(),
          refused);
    }
  }

  /// Writes that the task waits for the end of a pause. If the append fails, nothing is lost.
  static void suspend(TaskRun taskRun, String pause) {
    handBack(taskRun, StatusFacts.ofPaused(pause));
  }

  /// Waits until the store is available again, and prepares another call of an agent that the store
  /// failed. False if the task had not begun, was stopped or has ended: then nothing is written.
  boolean resume(TaskRun taskRun) {
    return check(() -> taskRun.stopped().isEmpty() && taskRun.begun())
        && retry(
            () ->
                taskRun.emitUnlessCanceled(
                    List.of(new TaskStatus(TaskState.WORKING, null, StatusFacts.ofHandedBack()))))
        && begin(taskRun) == WriteResult.WRITTEN
        && restarted(taskRun);
  }

  private static boolean restarted(TaskRun taskRun) {
    taskRun.restart();
    return taskRun.stopped().isEmpty();
  }

  private static WriteResult conflict(TaskRun taskRun, ContextState state, Position seen) {
    if (taskRun.fenced()) {
      return WriteResult.REJECTED;
    }
    var task = state.openTask(taskRun.taskId()).orElse(null);
    if (task != null && task.cancelRequested()) {
      return WriteResult.CANCEL_REQUESTED;
    }
    return task != null && task.wokenSeq() > seen.seq()
        ? WriteResult.NEW_ENTRIES
        : WriteResult.WRITTEN;
  }

  /// Appends the drafts if `check` returns `WRITTEN`.
  private WriteResult append(
      ContextId context,
      Function<ContextState, WriteResult> check,
      Function<ContextState, List<EventDraft>> drafts) {
    var checked = new AtomicReference<>(WriteResult.REJECTED);
    var accepted =
        retry(
            () ->
                log.append(
                    context,
                    AppendGuard.none(),
                    state -> {
                      var result = check.apply(state);
                      checked.set(result);
                      return result == WriteResult.WRITTEN ? drafts.apply(state) : List.of();
                    }));
    return accepted ? checked.get() : WriteResult.REJECTED;
  }

  /// Performs `write` again while the store is unavailable. False if the log rejects it, or the
  /// server stops.
  boolean retry(Runnable write) {
    while (true) {
      try {
        write.run();
        return true;
      } catch (Rejection.Unavailable storeDown) {
        try {
          if (closedAfterPause()) {
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

  /// Reads a condition, again while the store is unavailable. False also if the context was deleted,
  /// or the server stops.
  boolean check(BooleanSupplier condition) {
    var result = new AtomicBoolean();
    return retry(() -> result.set(condition.getAsBoolean())) && result.get();
  }

  private synchronized boolean closedAfterPause() throws InterruptedException {
    var time = taskSources.time();
    var deadline = time.deadline(RETRY_PAUSE);
    while (!closed && time.remaining(deadline) > 0) {
      time.waitUntil(this, deadline);
    }
    return closed;
  }

  /// Writes the end of a task that does not succeed, in one append: closes its open calls, blocks
  /// and questions, keeps its text, and records the reason. Returns `WRITTEN` also if the task has
  /// ended before.
  WriteResult end(ContextId context, TaskId task, TaskEnding taskEnding) {
    var answered = new AtomicBoolean();
    var ended =
        retry(
            () -> {
              answered.set(!endOnce(context, task, taskEnding));
              failPoint.reach("after-end");
            });
    if (answered.get()) {
      return WriteResult.ANSWERED;
    }
    return ended ? WriteResult.WRITTEN : WriteResult.REJECTED;
  }

  /// False if the ending does not apply because the question was answered.
  private boolean endOnce(ContextId context, TaskId task, TaskEnding taskEnding) {
    for (var attempt = 1; ; attempt++) {
      try {
        return tryToEnd(context, task, taskEnding);
      } catch (Rejection.NotFound | Rejection.Gone deleted) {
        return true;
      } catch (Rejection.Stale newText) {
        if (attempt == END_ATTEMPTS_MAX) {
          throw newText;
        }
      }
    }
  }

  private boolean tryToEnd(ContextId context, TaskId task, TaskEnding taskEnding) {
    var created = log.inspect(context, s -> s.openTask(task).map(OpenTask::createdSeq));
    if (created.isEmpty()) {
      return true;
    }
    var asked = taskEnding.questionId();
    var answered = new AtomicBoolean();
    var taskTextBlocks = TaskTextBlocks.read(log, context, task, Position.of(created.get()));
    var message = taskSources.messageId();
    log.append(
        context,
        AppendGuard.none(),
        state -> {
          var open = state.openTask(task).orElse(null);
          answered.set(open != null && asked != null && !QuestionTimers.isOpen(state, asked));
          if (open == null || answered.get()) {
            return List.of();
          }
          if (!taskTextBlocks.covers(open)) {
            throw new Rejection.Stale("the task has new text: " + task);
          }
          return drafts(
              state, open, taskEnding, events(state, open, taskEnding, taskTextBlocks, message));
        });
    return !answered.get();
  }

  private static List<EventDraft> drafts(
      ContextState state, OpenTask open, TaskEnding taskEnding, List<Event> events) {
    var drafts = new ArrayList<EventDraft>();
    events.forEach(event -> drafts.add(new EventDraft(open.origin(), event)));
    var error = taskEnding.error() == null ? taskEnding.reason() : taskEnding.error().message();
    ContextSchedule.subtaskComplete(
            state, open.origin(), new ContextSchedule.SubtaskEnd(taskEnding.state(), null, error))
        .ifPresent(drafts::add);
    return drafts;
  }

  private List<Event> events(
      ContextState state,
      OpenTask open,
      TaskEnding taskEnding,
      TaskTextBlocks taskTextBlocks,
      MessageId message) {
    var events = new ArrayList<Event>();
    var reason =
        taskEnding.state() == TaskState.CANCELED
            ? taskTextBlocks.cancelReason().orElse(taskEnding.reason())
            : taskEnding.reason();
    events.addAll(lapsed(state, open.origin().taskId(), reason));
    open.openCalls()
        .forEach(
            (id, call) -> events.add(ContextSchedule.closedCall(id, call, taskEnding.calls())));
    open.openBlocks()
        .keySet()
        .forEach(
            block ->
                events.add(
                    new ContentComplete(
                        taskTextBlocks.text(block), block, taskEnding.blocks(), true, null, null)));
    if (taskEnding.error() != null) {
      events.add(taskEnding.error());
    }
    var text = taskTextBlocks.text();
    if (!text.isEmpty() && open.origin().parentTaskId() == null) {
      var metadata = MessageFacts.ofPartial(reason);
      events.add(new Message(message, Role.ASSISTANT, text, null, metadata));
    }
    var why = open.started() ? StatusFacts.ofEnd(reason) : StatusFacts.ofNeverStarted(reason);
    if (open.started()) {
      why.setAll(taskTextBlocks.totals(taskSources.time().instant()));
    }
    if (taskEnding.result() != null) {
      why.setAll(taskEnding.result());
    }
    events.add(new TaskStatus(taskEnding.state(), null, why));
    return events;
  }

  /// The lapse of all open questions of the task.
  private static List<Event> lapsed(ContextState state, TaskId task, String reason) {
    var events = new ArrayList<Event>();
    for (var input : state.openInputs()) {
      if (input.task().equals(task)) {
        events.add(new InputLapsed(input.required().inputId(), reason));
      }
    }
    for (var auth : state.openAuths()) {
      if (auth.task().equals(task)) {
        events.add(new AuthLapsed(auth.required().authId(), reason));
      }
    }
    return events;
  }

  /// The open descendants of a task.
  List<TaskId> openBelow(ContextId context, TaskId task) {
    return log.inspect(
        context,
        state ->
            ContextSchedule.tree(state, task).stream()
                .map(below -> below.origin().taskId())
                .filter(below -> !below.equals(task))
                .toList());
  }

  /// Waits until all descendants have ended, as long as there are events within `patience`.
  void awaitEndsBelow(ContextId context, TaskId task, Duration patience) {
    try {
      for (var head = log.head(context);
          !openBelow(context, task).isEmpty() && log.await(context, head, patience);
          head = log.head(context)) {
        // Each event may be the end of the last subtask.
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /// Stops a run. If `asked` is set, does so only if this question of the task is open, appends that
  /// it has lapsed, and rejects what the agent does next. False if the run has parked: then nothing
  /// is written.
  boolean stop(TaskRun taskRun, @Nullable Id asked, BooleanSupplier stop) {
    if (asked == null) {
      return stop.getAsBoolean();
    }
    var parked = new AtomicBoolean();
    log.append(
        taskRun.context(),
        AppendGuard.none(),
        state -> {
          if (state.openTask(taskRun.taskId()).isEmpty() || !QuestionTimers.isOpen(state, asked)) {
            return List.of();
          }
          // A side effect of a decision. Later, the agent could have read that its question lapsed,
          // and could have continued. If the append fails, the run is stopped nevertheless, because
          // its question has expired.
          parked.set(!stop.getAsBoolean());
          if (parked.get() || taskRun.serverStopping()) {
            return List.of(); // The next start lets the question lapse.
          }
          taskRun.fence();
          return List.of(new EventDraft(taskRun.origin(), QuestionTimers.lapsed(asked)));
        });
    return !parked.get();
  }

  synchronized boolean closed() {
    return closed;
  }

  /// Ends all retries.
  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }
}
