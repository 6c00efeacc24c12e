package dev.parley.socket;

import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Tokens;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// The server side of Engine.IO: handles requests, and holds all connections.
final class Engine {

  static final int PROTOCOL = 4;

  private static final int PAYLOAD_MAX = 1_000_000;
  private static final String TEXT = "text/plain; charset=UTF-8";

  /// The error codes of Engine.IO.
  private enum Wrong {
    TRANSPORT(0, "Transport unknown"),
    SESSION(1, "Session ID unknown"),
    METHOD(2, "Bad handshake method"),
    REQUEST(3, "Bad request"),
    VERSION(5, "Unsupported protocol version");

    private final int code;
    private final String message;

    Wrong(int code, String message) {
      this.code = code;
      this.message = message;
    }

    Reply reply() {
      return reply(message);
    }

    Reply reply(String detail) {
      return new Reply.Json(400, Json.object().put("code", code).put("message", detail));
    }
  }

  private final SocketDoor.Parts parts;
  private final Visit.Host host;
  private final Map<String, Connection> connections = new ConcurrentHashMap<>();
  private final PendingConnections pending = new PendingConnections();

  Engine(SocketDoor.Parts parts, Visit.Host host) {
    this.parts = parts;
    this.host = host;
  }

  /// The number of connections.
  int count() {
    return connections.size();
  }

  /// The number of bytes that wait to be sent, in all connections.
  long waiting() {
    return connections.values().stream().mapToLong(connection -> connection.outbox.size()).sum();
  }

  /// Opens a connection, polls one for packets, or upgrades one to a WebSocket.
  Reply get(Request request) {
    var wrong = check(request);
    if (wrong.isPresent()) {
      return wrong.get();
    }
    var socket = request.query("transport").filter("websocket"::equals).isPresent();
    var sid = request.query("sid");
    if (sid.isEmpty()) {
      return socket ? openSocket(request) : openPolling(request);
    }
    var connection = connections.get(sid.get());
    if (connection == null) {
      return Wrong.SESSION.reply();
    }
    return socket ? new Reply.Upgrade(connection::upgrade) : poll(connection);
  }

  /// Receives packets.
  Reply post(Request request) {
    var wrong = check(request);
    if (wrong.isPresent()) {
      return wrong.get();
    }
    var sid = request.query("sid");
    if (sid.isEmpty()) {
      return Wrong.METHOD.reply();
    }
    var connection = connections.get(sid.get());
    if (connection == null) {
      return Wrong.SESSION.reply();
    }
    if (request.query("transport").filter("polling"::equals).isEmpty()) {
      return Wrong.REQUEST.reply();
    }
    try {
      connection.post(request.text());
      return text("ok");
    } catch (Rejection.TooLarge large) {
      connection.close(1009, "the body is too large");
      throw large;
    } catch (Rejection refused) {
      return Wrong.REQUEST.reply(String.valueOf(refused.getMessage()));
    } catch (InterruptedException told) {
      throw interrupted();
    }
  }

  private static Optional<Reply> check(Request request) {
    var transport = request.query("transport").orElse("");
    if (!transport.equals("polling") && !transport.equals("websocket")) {
      return Optional.of(Wrong.TRANSPORT.reply());
    }
    return request.query("EIO").filter(Integer.toString(PROTOCOL)::equals).isEmpty()
        ? Optional.of(Wrong.VERSION.reply())
        : Optional.empty();
  }

  private Reply poll(Connection connection) {
    try {
      return text(connection.poll());
    } catch (Rejection.Invalid overlap) {
      return Wrong.REQUEST.reply(String.valueOf(overlap.getMessage()));
    } catch (InterruptedException told) {
      throw interrupted();
    }
  }

  private Reply openPolling(Request request) {
    var connection = open(request);
    try {
      connection.hold(parts.streams().open(() -> connection.close(1001, "the server is stopping")));
    } catch (Rejection.Busy full) {
      connection.close(1013, "too many streams");
      throw full;
    }
    return text(EnginePacket.open(greeting(connection, List.of("websocket"))));
  }

  private Reply openSocket(Request request) {
    return new Reply.Upgrade(
        socket -> {
          var connection = open(request);
          connection.serve(socket, EnginePacket.open(greeting(connection, List.of())));
        });
  }

  private Connection open(Request request) {
    var sid = parts.newId();
    var connection =
        new Connection(
            sid,
            parts.pace(),
            parts.limits().stall(),
            () -> {
              connections.remove(sid);
              pending.remove(sid);
            });
    connections.put(sid, connection);
    pending.add(connection, request.remoteAddress());
    Visit.Host welcoming =
        peer -> {
          pending.remove(sid);
          return host.welcome(peer);
        };
    var token =
        Tokens.find(
            request.header("Authorization").orElse(null), request.header("Cookie").orElse(null));
    new Guest(
            connection,
            new Guest.Parts(
                welcoming, parts.tokens(), parts::newId, token, request.remoteAddress()))
        .start();
    return connection;
  }

  private String greeting(Connection connection, List<String> upgrades) {
    var pace = parts.pace();
    var greeting = Json.object().put("sid", connection.sid);
    var list = greeting.putArray("upgrades");
    upgrades.forEach(list::add);
    return greeting
        .put("pingInterval", pace.pingInterval().toMillis())
        .put("pingTimeout", pace.pingTimeout().toMillis())
        .put("maxPayload", Math.min(PAYLOAD_MAX, parts.limits().bodyBytes()))
        .toString();
  }

  private static Reply text(String text) {
    return new Reply.Bytes(TEXT, text.getBytes(StandardCharsets.UTF_8));
  }

  private static Rejection interrupted() {
    Thread.currentThread().interrupt();
    return new Rejection.Unavailable("the server is stopping");
  }
}
