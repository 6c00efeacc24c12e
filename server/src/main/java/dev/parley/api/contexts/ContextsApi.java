package dev.parley.api.contexts;

import dev.parley.http.ApiDependencies;
import dev.parley.http.Route;
import dev.parley.task.Rewinder;
import java.util.ArrayList;
import java.util.List;

/// The native API: all its routes.
public final class ContextsApi {

  private final ApiDependencies parts;

  public ContextsApi(ApiDependencies parts) {
    this.parts = parts;
  }

  /// The routes.
  public List<Route> routes() {
    var events = new ContextEventRoutes(parts);
    var routes = new ArrayList<Route>();
    routes.addAll(new ContextRoutes(parts).routes());
    routes.addAll(new ContextMessageRoutes(parts, events).routes());
    routes.addAll(events.routes());
    routes.addAll(new SocketRoutes(parts).routes());
    routes.addAll(new ContextTaskRoutes(parts).routes());
    routes.addAll(new ArtifactRoutes(parts).routes());
    var inputs = new InputRoutes(parts);
    var signIns = new SignInRoutes(parts);
    routes.addAll(inputs.routes());
    routes.addAll(signIns.routes());
    routes.addAll(new ResumeRoutes(parts, inputs, signIns).routes());
    routes.addAll(
        new ContextRewindRoutes(parts, new Rewinder(parts.log(), parts.views())).routes());
    return routes;
  }
}
