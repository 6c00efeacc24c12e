package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The events that cancel a tool call, its questions and its subtasks.
final class ToolCallCancellation {

  private ToolCallCancellation() {}

  /// @throws Rejection.NotFound if the task has no such running call and no open question for it
  static List<EventDraft> of(ContextState state, TaskId task, ToolCallId call, String principal) {
    var open = state.openTask(task).orElse(null);
    var running = open == null ? null : open.openCalls().get(call);
    var asked =
        open == null ? List.<EventDraft>of() : lapsed(state, open.origin(), call, principal);
    if (open == null || (running == null && asked.isEmpty())) {
      throw new Rejection.NotFound("no such tool call is running: " + call);
    }
    var drafts = new ArrayList<EventDraft>();
    var request = new CancelRequested(principal, "the call that spawned it was canceled");
    ContextSchedule.children(state, task)
        .filter(child -> call.equals(child.origin().spawnedByCallId()))
        .forEach(
            child ->
                drafts.addAll(ContextSchedule.cancel(state, child.origin().taskId(), request)));
    drafts.addAll(asked);
    if (running != null) {
      var closed = ContextSchedule.closedCall(call, running, ToolEvent.Outcome.CANCELED);
      drafts.add(new EventDraft(open.origin(), withCanceledBy(closed, principal)));
    }
    return drafts;
  }

  private static ToolEvent.ToolComplete withCanceledBy(
      ToolEvent.ToolComplete closed, String principal) {
    return new ToolEvent.ToolComplete(
        closed.toolCallId(),
        closed.toolName(),
        closed.success(),
        closed.result(),
        closed.error(),
        Json.object().put("canceledBy", principal),
        closed.outcome(),
        closed.subagentMetadata());
  }

  /// The lapse of all questions of the call. The call may not have started, as it may wait for
  /// approval.
  private static List<EventDraft> lapsed(
      ContextState state, Origin origin, ToolCallId call, String principal) {
    var drafts = new ArrayList<EventDraft>();
    for (var input : state.openInputs()) {
      var required = input.required();
      if (input.task().equals(origin.taskId())
          && required.facts().toolCallId().equals(Optional.of(call))) {
        drafts.add(
            new EventDraft(origin, new InputLapsed(required.inputId(), "canceled", principal)));
      }
    }
    for (var auth : state.openAuths()) {
      var required = auth.required();
      if (auth.task().equals(origin.taskId())
          && required.facts().toolCallId().equals(Optional.of(call))) {
        drafts.add(
            new EventDraft(origin, new AuthLapsed(required.authId(), "canceled", principal)));
      }
    }
    return drafts;
  }
}
