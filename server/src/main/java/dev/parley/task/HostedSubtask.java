package dev.parley.task;

import dev.parley.log.AppendGuard;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import tools.jackson.databind.node.ObjectNode;

/// A subtask that the parent's agent runs and reports itself, such as a sub-agent inside a program:
/// the runtime does not run it. Thread-safe.
public final class HostedSubtask {

  private final EventLog log;
  private final ContextId context;
  private final Origin origin;
  private final InstantSource clock;
  private final Instant begun;

  HostedSubtask(EventLog log, ContextId context, Origin origin, InstantSource clock) {
    this.log = log;
    this.context = context;
    this.origin = origin;
    this.clock = clock;
    this.begun = clock.instant();
  }

  /// The ids of this task.
  public Origin origin() {
    return origin;
  }

  /// Appends events of this task. False if the task has ended or is being canceled; then the events
  /// are dropped, so that no text is added while its end is written.
  public boolean emit(List<? extends Event> events) {
    return append(
        (_, task) -> {
          var calls = new HashSet<>(task.openCalls().keySet());
          return AppendFilter.of(events, event -> isWanted(event, calls)).stream()
              .map(event -> new EventDraft(origin, event))
              .toList();
        });
  }

  /// False for the end of a call that has already ended.
  private static boolean isWanted(Event event, Set<ToolCallId> open) {
    return switch (event) {
      case ToolStart start -> open.add(start.toolCallId());
      case ToolComplete end -> open.remove(end.toolCallId());
      default -> true; // Other events never conflict.
    };
  }

  /// Ends the task with its result and reports that to the parent. False if the task has ended or
  /// is being canceled; in the latter case the server ends it.
  public boolean complete(String result) {
    return append(
        (state, task) -> {
          var drafts = closedCalls(task);
          drafts.add(new EventDraft(origin, new TaskStatus(TaskState.COMPLETED, null, null)));
          drafts.add(new EventDraft(origin, new TaskComplete(result, null, duration())));
          return ended(
              state, drafts, new ContextSchedule.SubtaskEnd(TaskState.COMPLETED, result, null));
        });
  }

  /// Ends the task with an error; otherwise like [#complete].
  public boolean fail(ErrorCode code, String message) {
    return append(
        (state, task) -> {
          var drafts = closedCalls(task);
          var error = new ErrorReported(code, message, false, ErrorScope.TASK, null);
          drafts.add(new EventDraft(origin, error));
          var metadata = duration().setAll(StatusFacts.ofEnd(message));
          drafts.add(new EventDraft(origin, new TaskStatus(TaskState.FAILED, null, metadata)));
          return ended(
              state, drafts, new ContextSchedule.SubtaskEnd(TaskState.FAILED, null, message));
        });
  }

  private List<EventDraft> closedCalls(OpenTask task) {
    var drafts = new ArrayList<EventDraft>();
    task.openCalls()
        .forEach(
            (id, call) ->
                drafts.add(
                    new EventDraft(
                        origin,
                        ContextSchedule.closedCall(id, call, ToolEvent.Outcome.OUTCOME_UNKNOWN))));
    return drafts;
  }

  private ObjectNode duration() {
    var millis = Duration.between(begun, clock.instant()).toMillis();
    return Json.object().put("duration", Math.max(0, millis));
  }

  private List<EventDraft> ended(
      ContextState state, List<EventDraft> drafts, ContextSchedule.SubtaskEnd end) {
    ContextSchedule.subtaskComplete(state, origin, end).ifPresent(drafts::add);
    return drafts;
  }

  private interface DraftFactory {
    List<EventDraft> of(ContextState state, OpenTask task);
  }

  private boolean append(DraftFactory draftFactory) {
    var open = new AtomicBoolean();
    log.append(
        context,
        AppendGuard.none(),
        state -> {
          var task = state.openTask(origin.taskId()).filter(found -> !found.cancelRequested());
          open.set(task.isPresent());
          return task.map(found -> draftFactory.of(state, found)).orElse(List.of());
        });
    return open.get();
  }
}
