package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.log.OpenTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
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

/// A task that the agent of the task above it tells of, such as a sub-agent inside a program: nobody
/// here runs it. Safe for use by many threads.
public final class Hosted {

  /// In a task's metadata: the agent of the task above works on it.
  static final String HOSTED = "hosted";

  private final EventLog log;
  private final ContextId context;
  private final Origin origin;
  private final InstantSource clock;
  private final Instant begun;

  Hosted(EventLog log, ContextId context, Origin origin, InstantSource clock) {
    this.log = log;
    this.context = context;
    this.origin = origin;
    this.clock = clock;
    this.begun = clock.instant();
  }

  static boolean is(OpenTask task) {
    var metadata = task.created().metadata();
    return task.origin().parentTaskId() != null
        && metadata != null
        && metadata.path(HOSTED).asBoolean(false);
  }

  /// Which task this is.
  public Origin origin() {
    return origin;
  }

  /// Appends events of this task. False if it has ended meanwhile or is to stop: then they are left out, so that whoever
  /// writes its end is not overtaken by more text.
  public boolean emit(List<? extends Event> events) {
    return append(
        (_, task) -> {
          var calls = new HashSet<>(task.openCalls().keySet());
          return WantedEvents.of(events, event -> isWanted(event, calls)).stream()
              .map(event -> new Draft(origin, event))
              .toList();
        });
  }

  /// False for the ends of calls that somebody has ended meanwhile.
  private static boolean isWanted(Event event, Set<ToolCallId> open) {
    return switch (event) {
      case ToolStart start -> open.add(start.toolCallId());
      case ToolComplete end -> open.remove(end.toolCallId());
      default -> true; // All others are free of what others do.
    };
  }

  /// Ends the task with its result and reports that to the task above. False if it has ended before or is to stop:
  /// then the server ends it.
  public boolean complete(String result) {
    return append(
        (state, task) -> {
          var drafts = closedCalls(task);
          drafts.add(new Draft(origin, new TaskStatus(TaskState.COMPLETED, null, null)));
          drafts.add(new Draft(origin, new TaskComplete(result, null, duration())));
          return ended(state, drafts, new Lineup.Ended(TaskState.COMPLETED, result, null));
        });
  }

  /// Ends the task with an error, otherwise like [#complete].
  public boolean fail(ErrorCode code, String message) {
    return append(
        (state, task) -> {
          var drafts = closedCalls(task);
          var error = new ErrorReported(code, message, false, ErrorScope.TASK, null);
          drafts.add(new Draft(origin, error));
          var metadata = duration().put("reason", message);
          drafts.add(new Draft(origin, new TaskStatus(TaskState.FAILED, null, metadata)));
          return ended(state, drafts, new Lineup.Ended(TaskState.FAILED, null, message));
        });
  }

  private List<Draft> closedCalls(OpenTask task) {
    var drafts = new ArrayList<Draft>();
    task.openCalls()
        .forEach(
            (id, call) ->
                drafts.add(
                    new Draft(origin, Closer.closed(id, call, ToolEvent.Outcome.OUTCOME_UNKNOWN))));
    return drafts;
  }

  private ObjectNode duration() {
    var millis = Duration.between(begun, clock.instant()).toMillis();
    return Json.object().put("duration", Math.max(0, millis));
  }

  private List<Draft> ended(ContextState state, List<Draft> drafts, Lineup.Ended end) {
    Lineup.ended(state, origin, end).ifPresent(drafts::add);
    return drafts;
  }

  private interface Events {
    List<Draft> of(ContextState state, OpenTask task);
  }

  private boolean append(Events events) {
    var open = new AtomicBoolean();
    log.append(
        context,
        Guard.none(),
        state -> {
          var task = state.openTask(origin.taskId()).filter(found -> !found.cancelRequested());
          open.set(task.isPresent());
          return task.map(found -> events.of(state, found)).orElse(List.of());
        });
    return open.get();
  }
}
