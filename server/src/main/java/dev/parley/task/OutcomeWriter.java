package dev.parley.task;

import dev.parley.log.AppendGuard;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.List;

/// Writes that a task waits or has succeeded, unless the log has new entries for it that its agent
/// has not read.
final class OutcomeWriter {

  /// Conflict code: the task cannot wait or end, because there are new entries for it.
  static final String NEW_ENTRIES = "news";

  /// Conflict code: the task cannot wait or succeed, because its cancellation was requested.
  static final String CANCEL_REQUESTED = "cancel-requested";

  /// Conflict code: the task cannot end, because it has open subtasks.
  static final String CHILDREN = "children";

  private final EventLog log;
  private final ClockAndIds clockAndIds;
  private final RetryingWriter retryingWriter;

  OutcomeWriter(EventLog log, ClockAndIds clockAndIds, RetryingWriter stubborn) {
    this.log = log;
    this.clockAndIds = clockAndIds;
    this.retryingWriter = stubborn;
  }

  /// Writes that the task waits. Returns an empty string on success, else the conflict code.
  String park(TaskRun taskRun, TaskOutcome.Parked parked) {
    taskRun.reachFailPoint("before-park");
    var seen = taskRun.readPosition();
    var refusal =
        retryingWriter.conflictCode(
            () ->
                log.append(
                    taskRun.context(),
                    AppendGuard.none(),
                    state -> {
                      checkNoNewEntries(taskRun, state, seen);
                      var status = new TaskStatus(parked.state(), null, parked.metadata());
                      return List.of(new EventDraft(taskRun.origin(), status));
                    }));
    taskRun.reachFailPoint("after-park");
    return refusal;
  }

  /// Writes the end of a task that succeeded. Returns an empty string on success, else the conflict
  /// code.
  String complete(TaskRun taskRun, Agent agent, TaskOutcome.Completed completed) {
    var seen = agent.resumes() ? taskRun.readPosition() : Position.of(Long.MAX_VALUE);
    // Read all entries, so that the totals are complete.
    retryingWriter.write(
        () -> {
          taskRun.readNewEntries();
          return true;
        });
    var now = clockAndIds.clock().instant();
    var content = completed.content();
    var taskTotals = taskRun.totals();
    var message =
        new Message(
            clockAndIds.messageId(),
            Role.ASSISTANT,
            content,
            null,
            taskTotals.messageMetadata(content, now));
    var metadata = taskTotals.taskMetadata(content, now);
    if (completed.result() != null) {
      metadata.setAll(completed.result());
    }
    taskRun.reachFailPoint("before-complete");
    var refusal =
        retryingWriter.conflictCode(
            () ->
                log.append(
                    taskRun.context(),
                    AppendGuard.none(),
                    state -> {
                      checkNoNewEntries(taskRun, state, seen);
                      if (ContextSchedule.children(state, taskRun.taskId()).findAny().isPresent()) {
                        throw new Rejection.Conflict(CHILDREN, "subtasks have not ended");
                      }
                      var drafts = new ArrayList<EventDraft>();
                      if (taskRun.origin().parentTaskId() == null) {
                        drafts.add(new EventDraft(taskRun.origin(), message));
                      }
                      var status = new TaskStatus(TaskState.COMPLETED, null, null);
                      drafts.add(new EventDraft(taskRun.origin(), status));
                      var complete = new TaskComplete(content, taskTotals.artifacts(), metadata);
                      drafts.add(new EventDraft(taskRun.origin(), complete));
                      var end = new ContextSchedule.SubtaskEnd(TaskState.COMPLETED, content, null);
                      ContextSchedule.subtaskComplete(state, taskRun.origin(), end)
                          .ifPresent(drafts::add);
                      return drafts;
                    }));
    taskRun.reachFailPoint("after-complete");
    return refusal;
  }

  /// Rejects the append if the log has new entries for the task, or its cancellation was requested.
  private static void checkNoNewEntries(TaskRun taskRun, ContextState state, Position seen) {
    var task = state.openTask(taskRun.taskId());
    if (task.isPresent() && task.get().cancelRequested()) {
      throw new Rejection.Conflict(CANCEL_REQUESTED, "the task is being canceled");
    }
    if (task.isPresent() && task.get().wokenSeq() > seen.seq()) {
      throw new Rejection.Conflict(NEW_ENTRIES, "there are new entries for the task");
    }
  }
}
