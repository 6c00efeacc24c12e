package dev.parley.api.agui;

import dev.parley.api.ApiDependencies;
import dev.parley.http.ErrorFormat;
import dev.parley.http.Problem;
import dev.parley.http.Route;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// The AG-UI API: creates its routes.
public final class AgUiApi {

  /// The error format of this API, which is that of `RUN_ERROR`.
  public static final ErrorFormat ERRORS = ErrorFormat.json("/ag-ui", AgUiApi::error);

  private final ApiDependencies parts;

  public AgUiApi(ApiDependencies parts) {
    this.parts = parts;
  }

  public List<Route> routes() {
    var threadReader = new ThreadReader(parts);
    var routes = new ArrayList<Route>();
    routes.addAll(new AgUiRunRoutes(parts, threadReader).routes());
    routes.addAll(new AgUiThreadRoutes(parts, threadReader).routes());
    return routes;
  }

  private static ObjectNode error(Problem problem) {
    var json = Json.object().put("message", problem.detail()).put("code", problem.code());
    return json.put("status", problem.status());
  }
}
