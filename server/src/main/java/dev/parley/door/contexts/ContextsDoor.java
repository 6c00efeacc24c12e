package dev.parley.door.contexts;

import dev.parley.door.DoorParts;
import dev.parley.door.Route;
import dev.parley.task.Rewinder;
import java.util.ArrayList;
import java.util.List;

/// The native API: all its routes.
public final class ContextsDoor {

  private final DoorParts parts;

  public ContextsDoor(DoorParts parts) {
    this.parts = parts;
  }

  /// The routes.
  public List<Route> routes() {
    var events = new EventRoutes(parts);
    var routes = new ArrayList<Route>();
    routes.addAll(new ContextRoutes(parts).routes());
    routes.addAll(new MessageRoutes(parts, events).routes());
    routes.addAll(events.routes());
    routes.addAll(new SocketRoutes(parts).routes());
    routes.addAll(new TaskRoutes(parts).routes());
    routes.addAll(new ArtifactRoutes(parts).routes());
    var inputs = new InputRoutes(parts);
    var signIns = new SignInRoutes(parts);
    routes.addAll(inputs.routes());
    routes.addAll(signIns.routes());
    routes.addAll(new ResumeRoutes(parts, inputs, signIns).routes());
    routes.addAll(new RewindRoutes(parts, new Rewinder(parts.log(), parts.views())).routes());
    return routes;
  }
}
