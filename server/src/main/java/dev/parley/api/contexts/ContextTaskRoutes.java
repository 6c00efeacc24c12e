package dev.parley.api.contexts;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import dev.parley.protocol.ToolCallId;
import java.util.List;

/// Routes for tasks: list, show and cancel them.
final class ContextTaskRoutes {

  private static final String ALL = "/api/contexts/{c}/tasks";
  private static final String ONE = ALL + "/{t}";

  private final ApiDependencies parts;

  ContextTaskRoutes(ApiDependencies parts) {
    this.parts = parts;
  }

  /// A task's context.
  record TaskLocation(ContextId contextId, TaskId taskId) {}

  List<Route> routes() {
    return List.of(
        Route.get(
            ALL,
            "Lists tasks, oldest first",
            ResponseDescription.page(TaskView.class),
            List.of(Parameter.LIMIT, Parameter.CURSOR),
            this::list),
        Route.get(ONE, "Shows a task", ResponseDescription.one(TaskView.class), this::show),
        Route.withoutBody(
            Route.Method.POST,
            ONE + "/cancel",
            "Requests cancellation of a task and its descendants",
            ResponseDescription.one(202, TaskView.class),
            this::cancel),
        Route.withoutBody(
            Route.Method.POST,
            ONE + "/tools/{call}/cancel",
            "Cancels one tool call; the task continues",
            ResponseDescription.one(202, TaskView.class),
            this::cancelTool),
        Route.get(
            "/api/task-lookup/{t}",
            "Finds the context of a task",
            ResponseDescription.one(TaskLocation.class),
            this::lookUp));
  }

  private Reply list(Request request) {
    var context = parts.access().context(request);
    var cursor = request.query("cursor").orElse(null);
    return new Reply.Json(200, parts.views().tasks(context, cursor, request.limit()));
  }

  private Reply show(Request request) {
    return new Reply.Json(200, task(parts.access().context(request), task(request)));
  }

  private Reply cancel(Request request) {
    var context = parts.access().context(request);
    var id = task(request);
    task(context, id);
    parts.tasks().cancel(context, id, request.principal(), null);
    return new Reply.Json(202, task(context, id));
  }

  private Reply cancelTool(Request request) {
    var context = parts.access().context(request);
    var id = task(request);
    task(context, id);
    parts
        .tasks()
        .cancelTool(context, id, new ToolCallId(request.path("call")), request.principal());
    return new Reply.Json(202, task(context, id));
  }

  private Reply lookUp(Request request) {
    var id = task(request);
    var context = parts.views().contextOf(id).orElseThrow(() -> unknown(id));
    if (!parts.access().mayUse(request, context)) {
      throw unknown(id);
    }
    return new Reply.Json(200, new TaskLocation(context, id));
  }

  private static TaskId task(Request request) {
    return new TaskId(request.path("t"));
  }

  private TaskView task(ContextId context, TaskId id) {
    return parts.views().task(context, id).orElseThrow(() -> unknown(id));
  }

  private static Rejection unknown(TaskId id) {
    return new Rejection.NotFound("no such task: " + id);
  }
}
