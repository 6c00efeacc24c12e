package dev.parley.api.a2a.sessions;

import dev.parley.api.a2a.A2aTaskReader;
import dev.parley.api.a2a.SessionTasks;
import dev.parley.http.ApiDependencies;
import dev.parley.http.ErrorFormat;
import dev.parley.http.Problem;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.RouteHandler;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// The sessions API: creates its routes.
public final class SessionsApi {

  /// The error format of this API.
  public static final List<ErrorFormat> ERRORS =
      List.of(
          ErrorFormat.json("/api/sessions", SessionsApi::error),
          ErrorFormat.json("/api/tasks", SessionsApi::error));

  static final String JSON = "application/json";

  private final ApiDependencies parts;

  public SessionsApi(ApiDependencies parts) {
    this.parts = parts;
  }

  public List<Route> routes() {
    var sessionAccess = new SessionAccess(parts);
    var routes = new ArrayList<Route>();
    routes.addAll(new SessionRoutes(parts, sessionAccess).routes());
    var form = new A2aTaskReader(parts, true);
    var tasks = new SessionTasks(parts, form);
    var children = new SubagentSessions(parts);
    routes.addAll(new SessionEventRoutes(parts, sessionAccess, children).routes());
    routes.addAll(
        new SessionTaskRoutes(
                parts,
                new SessionTaskRoutes.SessionTaskReaders(form, tasks, children),
                sessionAccess)
            .routes());
    routes.addAll(new SessionRewindRoutes(parts, sessionAccess, tasks).routes());
    routes.addAll(new SessionShareRoutes(parts, sessionAccess).routes());
    return routes;
  }

  /// A route with a request body.
  static Route routeWithBody(
      Route.Method method, String path, String summary, Class<?> body, RouteHandler routeHandler) {
    var who = List.of(SessionAccess.USER, SessionAccess.USER_HEADER);
    var routeDescription =
        new Route.RouteDescription(summary, who, body, ResponseDescription.other(JSON));
    return Route.withBody(method, path, routeDescription, routeHandler);
  }

  /// A route without a request body.
  static Route routeWithoutBody(
      Route.Method method, String path, String summary, RouteHandler routeHandler) {
    var who = List.of(SessionAccess.USER, SessionAccess.USER_HEADER);
    return new Route(
        method,
        path,
        new Route.RouteDescription(summary, who, null, ResponseDescription.other(JSON)),
        routeHandler);
  }

  private static ObjectNode error(Problem problem) {
    var detail = problem.status() >= 500 ? "the server failed; try again later" : problem.detail();
    return Json.object().put("error", detail);
  }
}
