package dev.parley.socketio;

import dev.parley.identity.Caller;
import dev.parley.identity.Revocations;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/// The Socket.IO session of a connection: connects, dispatches events, and disconnects.
///
/// It runs on its own thread, and handles one packet after the other.
final class SocketIoSession {

  private static final System.Logger LOG = System.getLogger(SocketIoSession.class.getName());
  private static final int POLICY = 1008;
  private static final Duration FOR_EVER = Duration.ofDays(1);

  /// The dependencies of a session; `token` is the one in the headers of the first request, and
  /// `address` the client's.
  record SocketIoSessionDependencies(
      SocketSession.SocketSessionFactory sessions,
      SocketIoDependencies server,
      @Nullable String token,
      InetAddress address) {}

  private final EngineConnection engineConnection;
  private final SocketIoSessionDependencies socketIoSessionDependencies;
  private @Nullable ConnectedPeer peer;
  private @Nullable SocketSession session;
  private Revocations.Registration revocation = () -> {};

  SocketIoSession(
      EngineConnection engineConnection, SocketIoSessionDependencies socketIoSessionDependencies) {
    this.engineConnection = engineConnection;
    this.socketIoSessionDependencies = socketIoSessionDependencies;
  }

  void start() {
    socketIoSessionDependencies.server().threads().start("socket-io-session", this::run);
  }

  private void run() {
    try {
      for (var texts = engineConnection.inbox.takeAll(FOR_EVER);
          !texts.isEmpty() || !engineConnection.inbox.closed();
          texts = engineConnection.inbox.takeAll(FOR_EVER)) {
        for (var text : texts) {
          handle(text);
        }
      }
    } catch (Rejection wrong) {
      engineConnection.close(1002, String.valueOf(wrong.getMessage()));
    } catch (IOException | InterruptedException gone) {
      engineConnection.close(1001, String.valueOf(gone.getMessage()));
    } catch (RuntimeException failed) { // This is the root of a thread: one for each connection.
      LOG.log(Level.ERROR, "a connection failed", failed);
      engineConnection.close(1011, "the server failed; see its log");
    } finally {
      endSession();
    }
  }

  private void handle(String text) throws IOException, InterruptedException {
    SocketIoPacket packet;
    try {
      packet = SocketIoPacket.decode(text);
    } catch (Rejection wrong) {
      if (session == null) {
        throw wrong;
      }
      // The error is sent first, so that the client has the reason.
      disconnect(EventResult.rejected("", wrong));
      return;
    }
    switch (packet.type()) {
      case CONNECT -> connect(packet);
      case EVENT -> event(packet);
      case DISCONNECT -> {
        endSession();
        engineConnection.setIdentified(false);
      }
      case ACK -> {} // The server requests no acknowledgements.
      case CONNECT_ERROR, BINARY_EVENT, BINARY_ACK ->
          throw new IllegalStateException("not decoded: " + packet.type());
    }
  }

  private void connect(SocketIoPacket packet) throws IOException, InterruptedException {
    if (!packet.namespace().equals(SocketIoPacket.MAIN)) {
      var data = Json.object().put("message", "Invalid namespace");
      engineConnection.send(
          new SocketIoPacket(SocketIoPacket.Type.CONNECT_ERROR, packet.namespace(), null, data));
      return;
    }
    if (session != null) {
      throw new Rejection.Invalid("connected already");
    }
    Caller caller;
    var revocations = socketIoSessionDependencies.server().tokens().revocations();
    var generation = revocations.generation();
    try {
      caller =
          socketIoSessionDependencies
              .server()
              .tokens()
              .caller(token(packet.data()), socketIoSessionDependencies.address());
    } catch (Rejection.Unauthorized | Rejection.Busy unknown) {
      sendConnectError(unknown);
      return;
    }
    var connectedPeer = new ConnectedPeer(socketIoSessionDependencies.server().newId(), caller);
    revocation = endWhenRevoked(caller);
    if (revocations.generation() != generation) {
      // It may have been revoked in the meantime.
      throw new Rejection.Unavailable("connect again");
    }
    engineConnection.setIdentified(true);
    var data = Json.object().put("sid", connectedPeer.id());
    engineConnection.send(
        new SocketIoPacket(SocketIoPacket.Type.CONNECT, SocketIoPacket.MAIN, null, data));
    try {
      session = socketIoSessionDependencies.sessions().connect(connectedPeer);
      peer = connectedPeer;
    } catch (Rejection refused) {
      disconnect(EventResult.rejected("connect", refused));
    }
  }

  private Revocations.Registration endWhenRevoked(Caller caller) {
    var server = socketIoSessionDependencies.server();
    return server
        .tokens()
        .revocations()
        .register(
            caller,
            () ->
                server
                    .threads()
                    .start(
                        "socket-io-revoked",
                        () -> engineConnection.close(POLICY, "the credential was revoked")));
  }

  private @Nullable String token(@Nullable JsonNode auth) {
    return auth != null && auth.path("token").isString()
        ? auth.path("token").asString()
        : socketIoSessionDependencies.token();
  }

  private void sendConnectError(Rejection unknown) throws IOException, InterruptedException {
    var data = Json.object().put("message", String.valueOf(unknown.getMessage()));
    data.putObject("data").put("code", unknown.code());
    engineConnection.send(
        new SocketIoPacket(SocketIoPacket.Type.CONNECT_ERROR, SocketIoPacket.MAIN, null, data));
  }

  private void event(SocketIoPacket packet) throws IOException, InterruptedException {
    if (session == null
        || packet.data() == null
        || !packet.namespace().equals(SocketIoPacket.MAIN)) {
      throw new Rejection.Invalid("connect first");
    }
    var name = packet.data().path(0).asString();
    var eventResult =
        packet.data().size() > 2
            ? EventResult.rejected(name, new Rejection.Invalid("an event takes one argument"))
            : EventResult.dispatch(session, name, argument(packet.data()));
    if (eventResult.error() != null) {
      engineConnection.send(SocketIoPacket.event(EventResult.ERROR, eventResult.error()));
    }
    if (packet.id() != null) {
      engineConnection.send(SocketIoPacket.ack(packet.id(), answer(eventResult)));
    }
  }

  private static JsonNode argument(JsonNode data) {
    return data.size() > 1 ? data.path(1) : NullNode.getInstance();
  }

  private static JsonNode answer(EventResult eventResult) {
    if (eventResult.error() != null) {
      return Json.object().set("error", eventResult.error());
    }
    return eventResult.answer() == null ? NullNode.getInstance() : eventResult.answer();
  }

  /// Sends the error and a disconnect packet. The client then closes the connection, or a timeout
  /// closes it.
  private void disconnect(EventResult eventResult) throws IOException, InterruptedException {
    if (eventResult.error() != null) {
      engineConnection.send(SocketIoPacket.event(EventResult.ERROR, eventResult.error()));
    }
    endSession();
    engineConnection.send(
        new SocketIoPacket(SocketIoPacket.Type.DISCONNECT, SocketIoPacket.MAIN, null, null));
    engineConnection.setIdentified(false);
  }

  private void endSession() {
    var left = session;
    session = null;
    revocation.close();
    if (peer != null) {
      peer.left = true;
      peer = null;
    }
    if (left != null) {
      left.onDisconnect();
    }
  }

  /// A peer that has connected.
  private final class ConnectedPeer implements SocketPeer {
    private final String id;
    private final Caller caller;
    private volatile boolean left;

    ConnectedPeer(String id, Caller caller) {
      this.id = id;
      this.caller = caller;
    }

    @Override
    public String id() {
      return id;
    }

    @Override
    public Caller caller() {
      return caller;
    }

    @Override
    public void emit(String event, JsonNode argument) throws IOException, InterruptedException {
      if (left) {
        throw new IOException("the peer has disconnected");
      }
      engineConnection.send(SocketIoPacket.event(event, argument));
    }

    @Override
    public void emitAll(SocketEventBatch socketEventBatch)
        throws IOException, InterruptedException {
      if (left) {
        throw new IOException("the peer has disconnected");
      }
      engineConnection.send(socketEventBatch.packets());
    }
  }
}
