package dev.parley.api.contexts;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.Route;
import dev.parley.stream.EventFormat;
import dev.parley.task.Rewinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The native API: all its routes.
public final class ContextsApi {

  private final ApiDependencies parts;
  private final Map<String, EventFormat> formats;

  /// @param formats the formats of events, besides the native one, by name
  public ContextsApi(ApiDependencies parts, Map<String, EventFormat> formats) {
    this.parts = parts;
    this.formats = Map.copyOf(formats);
  }

  /// The routes.
  public List<Route> routes() {
    var events = new ContextEventRoutes(parts, formats);
    var routes = new ArrayList<Route>();
    routes.addAll(new ContextRoutes(parts).routes());
    routes.addAll(new ContextMessageRoutes(parts, events).routes());
    routes.addAll(events.routes());
    routes.add(
        Route.webSocket(
            "/api/ws",
            "Sends events of all contexts that the client subscribes to",
            List.of(),
            this::openSocket));
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

  private Reply openSocket(Request request) {
    var caller = request.caller();
    return new Reply.Upgrade(
        connection -> new SocketSubscriptions(parts, caller, connection).serve());
  }
}
