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

/// Lets visitors in to one host: over Socket.IO, and over a plain WebSocket.
public final class SocketDoor {

  /// Where clients of Socket.IO come by default.
  public static final String SOCKET_IO = "/socket.io/";

  private static final List<Parameter> QUERY =
      List.of(
          Parameter.query("EIO", Parameter.Type.INTEGER, "the version of Engine.IO: 4"),
          Parameter.query("transport", "polling or websocket"),
          Parameter.query("sid", "the connection, once there is one"),
          Parameter.OTHERS);

  /// What the door needs. Ids are not to be guessed.
  public record Parts(
      Tokens tokens, Streams streams, Limits limits, Supplier<UUID> ids, Pace pace) {

    /// Those of a door in a listener with these settings.
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
            "Socket.IO: begins a connection, waits for packets, or becomes a WebSocket",
            Answer.other("text/plain"),
            QUERY,
            engine::get),
        new Route(
            Route.Method.POST,
            SOCKET_IO,
            new Route.Description(
                "Socket.IO: takes packets", QUERY, null, Answer.other("text/plain")),
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

  /// How many connections of Socket.IO there are.
  public int connections() {
    return engine.count();
  }

  /// How many bytes wait for peers to read them.
  public long waiting() {
    return engine.waiting();
  }
}
