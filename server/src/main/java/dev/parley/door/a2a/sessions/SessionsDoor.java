package dev.parley.door.a2a.sessions;

import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.ErrorForm;
import dev.parley.door.Handler;
import dev.parley.door.Problem;
import dev.parley.door.Route;
import dev.parley.door.a2a.SessionTasks;
import dev.parley.door.a2a.TaskForm;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// The sessions API: creates its routes.
public final class SessionsDoor {

  /// The error format of this API.
  public static final List<ErrorForm> ERRORS =
      List.of(
          ErrorForm.json("/api/sessions", SessionsDoor::error),
          ErrorForm.json("/api/tasks", SessionsDoor::error));

  static final String JSON = "application/json";

  private final DoorParts parts;

  public SessionsDoor(DoorParts parts) {
    this.parts = parts;
  }

  public List<Route> routes() {
    var callers = new Callers(parts);
    var routes = new ArrayList<Route>();
    routes.addAll(new SessionRoutes(parts, callers).routes());
    var form = new TaskForm(parts, true);
    var tasks = new SessionTasks(parts, form);
    var children = new SubSessions(parts);
    routes.addAll(new EventRoutes(parts, callers, children).routes());
    routes.addAll(
        new TaskRoutes(parts, new TaskRoutes.Forms(form, tasks, children), callers).routes());
    routes.addAll(new RewindRoutes(parts, callers, tasks).routes());
    routes.addAll(new ShareRoutes(parts, callers).routes());
    return routes;
  }

  /// A route with a request body.
  static Route send(
      Route.Method method, String path, String summary, Class<?> body, Handler handler) {
    var who = List.of(Callers.USER, Callers.USER_HEADER);
    var description = new Route.Description(summary, who, body, Answer.other(JSON));
    return Route.send(method, path, description, handler);
  }

  /// A route without a request body.
  static Route act(Route.Method method, String path, String summary, Handler handler) {
    var who = List.of(Callers.USER, Callers.USER_HEADER);
    return new Route(
        method, path, new Route.Description(summary, who, null, Answer.other(JSON)), handler);
  }

  private static ObjectNode error(Problem problem) {
    var detail = problem.status() >= 500 ? "the server failed; try again later" : problem.detail();
    return Json.object().put("error", detail);
  }
}
