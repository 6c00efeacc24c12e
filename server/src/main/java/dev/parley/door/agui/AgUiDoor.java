package dev.parley.door.agui;

import dev.parley.door.DoorParts;
import dev.parley.door.ErrorForm;
import dev.parley.door.Problem;
import dev.parley.door.Route;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// The AG-UI door: all its routes.
public final class AgUiDoor {

  /// How this door says that a request failed: as `RUN_ERROR` does.
  public static final ErrorForm ERRORS = ErrorForm.json("/ag-ui", AgUiDoor::error);

  private final DoorParts parts;

  public AgUiDoor(DoorParts parts) {
    this.parts = parts;
  }

  /// The routes.
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
