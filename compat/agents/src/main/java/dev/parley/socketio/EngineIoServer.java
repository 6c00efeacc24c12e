package dev.parley.socketio;

import dev.parley.http.ApiTokens;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// The server side of Engine.IO: handles requests, and holds all connections.
final class EngineIoServer {

  static final int PROTOCOL = 4;

  private static final int PAYLOAD_MAX = 1_000_000;
  private static final String TEXT = "text/plain; charset=UTF-8";

  /// The error codes of Engine.IO.
  private enum EngineError {
    TRANSPORT(0, "Transport unknown"),
    SESSION(1, "Session ID unknown"),
    METHOD(2, "Bad handshake method"),
    REQUEST(3, "Bad request"),
    VERSION(5, "Unsupported protocol version");

    private final int code;
    private final String message;

    EngineError(int code, String message) {
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

  private final SocketIoDependencies dependencies;
  private final SocketSession.SocketSessionFactory sessions;
  private final Map<String, EngineConnection> connections = new ConcurrentHashMap<>();
  private final PendingConnections pending = new PendingConnections();

  EngineIoServer(
      SocketIoDependencies dependencies, SocketSession.SocketSessionFactory socketSessionFactory) {
    this.dependencies = dependencies;
    this.sessions = socketSessionFactory;
  }

  /// The number of connections.
  int count() {
    return connections.size();
  }

  /// The number of bytes that wait to be sent, in all connections.
  long waitingBytes() {
    return connections.values().stream()
        .mapToLong(engineConnection -> engineConnection.outbox.size())
        .sum();
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
    var engineConnection = connections.get(sid.get());
    if (engineConnection == null) {
      return EngineError.SESSION.reply();
    }
    return socket ? new Reply.Upgrade(engineConnection::upgrade) : poll(engineConnection);
  }

  /// Receives packets.
  Reply post(Request request) {
    var wrong = check(request);
    if (wrong.isPresent()) {
      return wrong.get();
    }
    var sid = request.query("sid");
    if (sid.isEmpty()) {
      return EngineError.METHOD.reply();
    }
    var engineConnection = connections.get(sid.get());
    if (engineConnection == null) {
      return EngineError.SESSION.reply();
    }
    if (request.query("transport").filter("polling"::equals).isEmpty()) {
      return EngineError.REQUEST.reply();
    }
    try {
      engineConnection.post(request.text());
      return text("ok");
    } catch (Rejection.TooLarge large) {
      engineConnection.close(1009, "the body is too large");
      throw large;
    } catch (Rejection refused) {
      return EngineError.REQUEST.reply(String.valueOf(refused.getMessage()));
    } catch (InterruptedException told) {
      throw interrupted();
    }
  }

  private static Optional<Reply> check(Request request) {
    var transport = request.query("transport").orElse("");
    if (!transport.equals("polling") && !transport.equals("websocket")) {
      return Optional.of(EngineError.TRANSPORT.reply());
    }
    return request.query("EIO").filter(Integer.toString(PROTOCOL)::equals).isEmpty()
        ? Optional.of(EngineError.VERSION.reply())
        : Optional.empty();
  }

  private Reply poll(EngineConnection engineConnection) {
    try {
      return text(engineConnection.poll());
    } catch (Rejection.Invalid overlap) {
      return EngineError.REQUEST.reply(String.valueOf(overlap.getMessage()));
    } catch (InterruptedException told) {
      throw interrupted();
    }
  }

  private Reply openPolling(Request request) {
    var engineConnection = open(request);
    try {
      engineConnection.holdSlot(
          dependencies
              .streams()
              .open(() -> engineConnection.close(1001, "the server is stopping")));
    } catch (Rejection.Busy full) {
      engineConnection.close(1013, "too many streams");
      throw full;
    }
    return text(EngineIoPacket.open(greeting(engineConnection, List.of("websocket"))));
  }

  private Reply openSocket(Request request) {
    return new Reply.Upgrade(
        webSocketConnection -> {
          var engineConnection = open(request);
          engineConnection.serve(
              webSocketConnection, EngineIoPacket.open(greeting(engineConnection, List.of())));
        });
  }

  private EngineConnection open(Request request) {
    var sid = dependencies.newId();
    var engineConnection =
        new EngineConnection(
            sid,
            dependencies,
            () -> {
              connections.remove(sid);
              pending.remove(sid);
            });
    connections.put(sid, engineConnection);
    pending.add(engineConnection, request.remoteAddress());
    SocketSession.SocketSessionFactory welcoming =
        socketPeer -> {
          pending.remove(sid);
          return sessions.connect(socketPeer);
        };
    var token =
        ApiTokens.fromHeaders(
            request.header("Authorization").orElse(null), request.header("Cookie").orElse(null));
    new SocketIoSession(
            engineConnection,
            new SocketIoSession.SocketIoSessionDependencies(
                welcoming, dependencies, token, request.remoteAddress()))
        .start();
    return engineConnection;
  }

  private String greeting(EngineConnection engineConnection, List<String> upgrades) {
    var socketIoSettings = dependencies.socketSettings();
    var greeting = Json.object().put("sid", engineConnection.sid);
    var list = greeting.putArray("upgrades");
    upgrades.forEach(list::add);
    return greeting
        .put("pingInterval", socketIoSettings.pingInterval().toMillis())
        .put("pingTimeout", socketIoSettings.pingTimeout().toMillis())
        .put("maxPayload", Math.min(PAYLOAD_MAX, dependencies.limits().bodyBytes()))
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
