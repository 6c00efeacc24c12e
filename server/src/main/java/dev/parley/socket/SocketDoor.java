package dev.parley.socket;

import dev.parley.door.Answer;
import dev.parley.door.Limits;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Route;
import dev.parley.door.Settings;
import dev.parley.door.Streams;
import dev.parley.door.Tokens;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/// The routes of Socket.IO and of a plain WebSocket, with sessions of one factory.
public final class SocketDoor {

  /// The default path of Socket.IO clients.
  public static final String SOCKET_IO = "/socket.io/";

  private static final List<Parameter> QUERY =
      List.of(
          Parameter.query("EIO", Parameter.Type.INTEGER, "the version of Engine.IO: 4"),
          Parameter.query("transport", "polling or websocket"),
          Parameter.query("sid", "the id of an open connection"),
          Parameter.OTHERS);

  /// The dependencies of the routes. Ids must be impossible to guess.
  public record Parts(
      Tokens tokens, Streams streams, Limits limits, Supplier<UUID> ids, Pace pace) {

    /// The dependencies for a listener with these settings.
    public Parts(Settings settings, Streams streams, Supplier<UUID> ids, Pace pace) {
      this(new Tokens(settings.tokens()), streams, settings.limits(), ids, pace);
    }

    String newId() {
      var id = ids.get();
      var bytes = ByteBuffer.allocate(16).putLong(id.getMostSignificantBits());
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(bytes.putLong(id.getLeastSignificantBits()).array());
    }
  }

  private final Parts parts;
  private final Visit.Host host;
  private final Engine engine;

  public SocketDoor(Parts parts, Visit.Host host) {
    this.parts = parts;
    this.host = host;
    this.engine = new Engine(parts, host);
  }

  /// The routes: those of Socket.IO, and `path` for a plain WebSocket.
  public List<Route> routes(String path) {
    return List.of(
        Route.get(
            SOCKET_IO,
            "Socket.IO: opens a connection, polls for packets, or upgrades",
            Answer.other("text/plain"),
            QUERY,
            engine::get),
        new Route(
            Route.Method.POST,
            SOCKET_IO,
            new Route.Description(
                "Socket.IO: receives packets", QUERY, null, Answer.other("text/plain")),
            engine::post),
        Route.socket(
            path,
            "Named events, as over Socket.IO, on a plain WebSocket",
            List.of(),
            request -> {
              var principal = request.principal();
              return new Reply.Upgrade(
                  socket -> new PlainVisit(socket, parts.newId(), principal).serve(host));
            }));
  }

  /// The number of Socket.IO connections.
  public int connections() {
    return engine.count();
  }

  /// The number of bytes that wait to be sent.
  public long waiting() {
    return engine.waiting();
  }
}
