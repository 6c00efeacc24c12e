package dev.parley.api.a2a.sessions;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ApiModule;
import dev.parley.api.a2a.A2aTaskReader;
import dev.parley.api.a2a.SessionTasks;
import dev.parley.http.ErrorFormat;
import dev.parley.http.Problem;
import dev.parley.http.Route;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// The sessions API: creates its routes.
public final class SessionsApi implements ApiModule {

  private static final List<ErrorFormat> ERRORS =
      List.of(
          ErrorFormat.json("/api/sessions", SessionsApi::error),
          ErrorFormat.json("/api/tasks", SessionsApi::error));

  @Override
  public ApiParts create(ApiDependencies parts) {
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
    return new ApiParts(routes, ERRORS);
  }

  private static ObjectNode error(Problem problem) {
    var detail = problem.status() >= 500 ? "the server failed; try again later" : problem.detail();
    return Json.object().put("error", detail);
  }
}
