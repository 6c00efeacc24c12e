package dev.parley.door.agui;

import dev.parley.door.DoorParts;
import dev.parley.door.ErrorForm;
import dev.parley.door.Problem;
import dev.parley.door.Route;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// The AG-UI API: creates its routes.
public final class AgUiDoor {

  /// The error format of this API, which is that of `RUN_ERROR`.
  public static final ErrorForm ERRORS = ErrorForm.json("/ag-ui", AgUiDoor::error);

  private final DoorParts parts;

  public AgUiDoor(DoorParts parts) {
    this.parts = parts;
  }

  public List<Route> routes() {
    var threads = new Threads(parts);
    var routes = new ArrayList<Route>();
    routes.addAll(new RunRoutes(parts, threads).routes());
    routes.addAll(new ThreadRoutes(parts, threads).routes());
    return routes;
  }

  private static ObjectNode error(Problem problem) {
    var json = Json.object().put("message", problem.detail()).put("code", problem.code());
    return json.put("status", problem.status());
  }
}
