package dev.parley.door.contexts;

import dev.parley.door.DoorParts;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import java.util.List;

/// Events of many contexts on one WebSocket.
final class SocketRoutes {

  private final DoorParts parts;

  SocketRoutes(DoorParts parts) {
    this.parts = parts;
  }

  List<Route> routes() {
    return List.of(
        Route.socket(
            "/api/ws",
            "Sends events of all contexts that the client subscribes to",
            List.of(),
            this::open));
  }

  private Reply open(Request request) {
    var principal = request.principal();
    return new Reply.Upgrade(socket -> new Subscriptions(parts, principal, socket).serve());
  }
}
