package dev.parley.api.contexts;

import dev.parley.api.contexts.workflow.WorkflowFormat;
import dev.parley.http.ApiDependencies;
import dev.parley.http.EventFilter;
import dev.parley.http.EventFormat;
import dev.parley.http.Parameter;
import dev.parley.http.Request;
import dev.parley.log.OpenTask;
import dev.parley.projection.TaskView;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Parses the query parameters that select a format of events, and applies them.
final class EventFormatParameters {

  /// The parameters of lists and streams.
  static final List<Parameter> PARAMETERS =
      List.of(
          Parameter.query("format", "native (default) or workflow"),
          Parameter.query("debug", "with format=workflow, 1: include diagnostics"));

  /// A further parameter of streams.
  static final Parameter REPLAY =
      Parameter.query("replay", "with format=workflow: full (default), session, or none");

  private final ApiDependencies parts;
  private final EventFormat workflow;

  EventFormatParameters(ApiDependencies parts) {
    this.parts = parts;
    this.workflow = new WorkflowFormat(parts.log(), parts.views());
  }

  /// The format that the request names.
  EventFormat format(Request request) {
    var name = request.query("format").orElse("native");
    return switch (name) {
      case "native" -> {
        rejectParameter(request, "debug");
        rejectParameter(request, "replay");
        yield EventFormat.NATIVE;
      }
      case "workflow" -> workflow;
      default -> throw new Rejection.Invalid("format must be native or workflow");
    };
  }

  /// The filter of the request, for this format.
  EventFilter filter(Request request, ContextId context, EventFormat eventFormat) {
    var debug = debug(request);
    var filter =
        EventFilter.of(
            name -> debug && name.equals("internal") ? Optional.of("true") : request.query(name),
            task -> parts.views().parentOf(context, task));
    if (filter.internal()) {
      parts.access().checkInternal(request.principal());
    }
    return debug || eventFormat.equals(EventFormat.NATIVE)
        ? filter
        : filter.without(WorkflowFormat.DIAGNOSTICS);
  }

  /// The start of a stream that names no position.
  Position startPosition(Request request, ContextId context) {
    var replay = request.query("replay").orElse("full");
    return switch (replay) {
      // A stream has one session, so both mean its whole history.
      case "full", "session" -> Position.START;
      case "none" -> parts.log().head(context);
      default -> throw new Rejection.Invalid("replay must be full, session or none");
    };
  }

  /// Further fields of a stream's first frame in this format.
  @Nullable ObjectNode openingFields(
      ContextId context, EventFormat eventFormat, EventFilter filter) {
    if (eventFormat.equals(EventFormat.NATIVE)) {
      return null;
    }
    var active = active(context);
    var run = filter.tasks().namedTask().or(() -> active);
    var parent = run.flatMap(task -> parts.views().task(context, task)).map(TaskView::parentTaskId);
    return Json.object()
        .put("run_id", text(run))
        .put("parent_run_id", text(parent))
        .put("active_run_id", text(active));
  }

  /// The running root task, or else the next one.
  private Optional<TaskId> active(ContextId context) {
    return parts
        .log()
        .inspect(
            context,
            state -> {
              var roots =
                  state.openTasks().stream()
                      .filter(task -> task.origin().parentTaskId() == null)
                      .toList();
              return roots.stream()
                  .filter(OpenTask::started)
                  .findFirst()
                  .or(() -> roots.stream().findFirst())
                  .map(task -> task.origin().taskId());
            });
  }

  private static @Nullable String text(Optional<TaskId> task) {
    return task.map(TaskId::value).orElse(null);
  }

  private static boolean debug(Request request) {
    var text = request.query("debug").orElse("0");
    return switch (text) {
      case "1", "true" -> true;
      case "0", "false" -> false;
      default -> throw new Rejection.Invalid("debug must be 1 or 0");
    };
  }

  private static void rejectParameter(Request request, String name) {
    if (request.query(name).isPresent()) {
      throw new Rejection.Invalid(name + " requires format=workflow");
    }
  }
}
