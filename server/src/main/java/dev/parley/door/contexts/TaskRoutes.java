package dev.parley.door.contexts;

import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.Paging;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import dev.parley.view.TaskView;
import java.util.List;

/// Routes for tasks: list, show and cancel them.
final class TaskRoutes {

  private static final String ALL = "/api/contexts/{c}/tasks";
  private static final String ONE = ALL + "/{t}";

  private final DoorParts parts;

  TaskRoutes(DoorParts parts) {
    this.parts = parts;
  }

  /// A task's context.
  record TaskPlace(ContextId contextId, TaskId taskId) {}

  List<Route> routes() {
    return List.of(
        Route.get(
            ALL,
            "Lists tasks, oldest first",
            Answer.page(TaskView.class),
            List.of(Paging.LIMIT, Paging.CURSOR),
            this::list),
        Route.get(ONE, "Shows a task", Answer.one(TaskView.class), this::show),
        Route.act(
            Route.Method.POST,
            ONE + "/cancel",
            "Requests cancellation of a task and its descendants",
            Answer.one(202, TaskView.class),
            this::cancel),
        Route.act(
            Route.Method.POST,
            ONE + "/tools/{call}/cancel",
            "Cancels one tool call; the task continues",
            Answer.one(202, TaskView.class),
            this::cancelTool),
        Route.get(
            "/api/task-lookup/{t}",
            "Finds the context of a task",
            Answer.one(TaskPlace.class),
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
    parts.access().check(request.principal(), context);
    return new Reply.Json(200, new TaskPlace(context, id));
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
