package dev.parley.socketio;

import dev.parley.http.ApiTokens;
import dev.parley.http.HttpLimits;
import dev.parley.http.HttpSettings;
import dev.parley.http.OpenStreams;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/// The routes of Socket.IO and of a plain WebSocket, with sessions of one factory.
public final class SocketIoApi {

  /// The default path of Socket.IO clients.
  public static final String SOCKET_IO = "/socket.io/";

  private static final List<Parameter> QUERY =
      List.of(
          Parameter.query("EIO", Parameter.Type.INTEGER, "the version of Engine.IO: 4"),
          Parameter.query("transport", "polling or websocket"),
          Parameter.query("sid", "the id of an open connection"),
          Parameter.ANY_OTHER);

  /// The dependencies of the routes. Ids must be impossible to guess.
  public record SocketIoApiDependencies(
      ApiTokens tokens,
      OpenStreams streams,
      HttpLimits limits,
      Supplier<UUID> ids,
      SocketIoSettings socketSettings) {

    /// The dependencies for a listener with these settings.
    public SocketIoApiDependencies(
        HttpSettings settings,
        OpenStreams streams,
        Supplier<UUID> ids,
        SocketIoSettings socketSettings) {
      this(new ApiTokens(settings.tokens()), streams, settings.limits(), ids, socketSettings);
    }

    String newId() {
      var id = ids.get();
      var bytes = ByteBuffer.allocate(16).putLong(id.getMostSignificantBits());
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(bytes.putLong(id.getLeastSignificantBits()).array());
    }
  }

  private final SocketIoApiDependencies socketIoApiDependencies;
  private final SocketSession.SocketSessionFactory sessions;
  private final EngineIoServer engineIoServer;

  public SocketIoApi(
      SocketIoApiDependencies socketIoApiDependencies,
      SocketSession.SocketSessionFactory socketSessionFactory) {
    this.socketIoApiDependencies = socketIoApiDependencies;
    this.sessions = socketSessionFactory;
    this.engineIoServer = new EngineIoServer(socketIoApiDependencies, socketSessionFactory);
  }

  /// The routes: those of Socket.IO, and `path` for a plain WebSocket.
  public List<Route> routes(String path) {
    return List.of(
        Route.get(
            SOCKET_IO,
            "Socket.IO: opens a connection, polls for packets, or upgrades",
            ResponseDescription.other("text/plain"),
            QUERY,
            engineIoServer::get),
        new Route(
            Route.Method.POST,
            SOCKET_IO,
            new Route.RouteDescription(
                "Socket.IO: receives packets",
                QUERY,
                null,
                ResponseDescription.other("text/plain")),
            engineIoServer::post),
        Route.webSocket(
            path,
            "Named events, as over Socket.IO, on a plain WebSocket",
            List.of(),
            request -> {
              var principal = request.principal();
              return new Reply.Upgrade(
                  webSocketConnection ->
                      new PlainSocketPeer(
                              webSocketConnection, socketIoApiDependencies.newId(), principal)
                          .serve(sessions));
            }));
  }

  /// The number of Socket.IO connections.
  public int connections() {
    return engineIoServer.count();
  }

  /// The number of bytes that wait to be sent.
  public long waitingBytes() {
    return engineIoServer.waitingBytes();
  }
}
