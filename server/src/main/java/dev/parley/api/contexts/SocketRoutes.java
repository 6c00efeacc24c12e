package dev.parley.api.contexts;

import dev.parley.http.ApiDependencies;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.Route;
import java.util.List;

/// Events of many contexts on one WebSocket.
final class SocketRoutes {

  private final ApiDependencies parts;

  SocketRoutes(ApiDependencies parts) {
    this.parts = parts;
  }

  List<Route> routes() {
    return List.of(
        Route.webSocket(
            "/api/ws",
            "Sends events of all contexts that the client subscribes to",
            List.of(),
            this::open));
  }

  private Reply open(Request request) {
    var principal = request.principal();
    return new Reply.Upgrade(
        webSocketConnection ->
            new SocketSubscriptions(parts, principal, webSocketConnection).serve());
  }
}
