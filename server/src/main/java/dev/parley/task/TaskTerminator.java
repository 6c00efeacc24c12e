package dev.parley.task;

import dev.parley.log.AppendGuard;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.OpenCall;
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
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/// Writes the end of a task that does not succeed, in one append: closes its open calls, blocks and
/// questions, keeps its text, and records the reason.
final class TaskTerminator {

  /// A task that is being ended accepts no more text, see [TaskRun#fenced] and [HostedSubtask#emit]: only
  /// appends that had already begun can conflict.
  private static final int ATTEMPTS_MAX = 1_000;

  private final EventLog log;
  private final ClockAndIds clockAndIds;

  TaskTerminator(EventLog log, ClockAndIds clockAndIds) {
    this.log = log;
    this.clockAndIds = clockAndIds;
  }

  /// Ends the task, unless it has ended. False if the ending does not apply because the question
  /// was answered.
  boolean end(ContextId context, TaskId task, TaskEnding taskEnding) {
    for (var attempt = 1; ; attempt++) {
      try {
        return endOnce(context, task, taskEnding);
      } catch (Rejection.NotFound | Rejection.Gone deleted) {
        return true;
      } catch (Rejection.Stale spokeMeanwhile) {
        if (attempt == ATTEMPTS_MAX) {
          throw spokeMeanwhile;
        }
      }
    }
  }

  /// Appends that a question of the task has lapsed. False if it was answered, or the task has
  /// ended.
  boolean lapse(ContextId context, TaskId task, Id asked) {
    var lapsed = new AtomicBoolean();
    log.append(
        context,
        AppendGuard.none(),
        state -> {
          var open =
              state.openTask(task).filter(_ -> TaskQuestions.isOpen(state, asked)).orElse(null);
          lapsed.set(open != null);
          return open == null
              ? List.of()
              : List.of(new EventDraft(open.origin(), TaskQuestions.lapsed(asked)));
        });
    return lapsed.get();
  }

  private boolean endOnce(ContextId context, TaskId task, TaskEnding taskEnding) {
    var created = log.inspect(context, s -> s.openTask(task).map(OpenTask::createdSeq));
    if (created.isEmpty()) {
      return true;
    }
    var asked = taskEnding.questionId();
    var answered = new AtomicBoolean();
    var taskTextBlocks = TaskTextBlocks.read(log, context, task, Position.of(created.get()));
    var message = clockAndIds.messageId();
    log.append(
        context,
        AppendGuard.none(),
        state -> {
          var open = state.openTask(task).orElse(null);
          answered.set(open != null && asked != null && !TaskQuestions.isOpen(state, asked));
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
    open.openCalls().forEach((id, call) -> events.add(closed(id, call, taskEnding.calls())));
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
      why.setAll(taskTextBlocks.totals(clockAndIds.clock().instant()));
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

  /// The end of a call that was stopped.
  static ToolComplete closed(ToolCallId id, OpenCall call, ToolEvent.Outcome outcome) {
    return new ToolComplete(
        id, call.tool(), false, null, outcome.wire(), null, outcome, call.subagents());
  }
}
