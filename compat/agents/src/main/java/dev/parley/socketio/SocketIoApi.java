package dev.parley.socketio;

import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import java.util.List;

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

  private final SocketIoDependencies dependencies;
  private final SocketSession.SocketSessionFactory sessions;
  private final EngineIoServer engineIoServer;

  public SocketIoApi(
      SocketIoDependencies dependencies, SocketSession.SocketSessionFactory socketSessionFactory) {
    this.dependencies = dependencies;
    this.sessions = socketSessionFactory;
    this.engineIoServer = new EngineIoServer(dependencies, socketSessionFactory);
  }

  /// The routes: those of Socket.IO, and `path` for a plain WebSocket.
  public List<Route> routes(String path) {
    return List.of(
        Route.get(
                SOCKET_IO,
                "Socket.IO: opens a connection, polls for packets, or upgrades",
                ResponseDescription.other("text/plain"),
                QUERY,
                engineIoServer::get)
            .doing(Action.NONE),
        new Route(
            Route.Method.POST,
            SOCKET_IO,
            new Route.RouteDescription(
                "Socket.IO: receives packets",
                QUERY,
                null,
                ResponseDescription.other("text/plain")),
            Action.NONE,
            engineIoServer::post),
        Route.webSocket(
            path,
            "Named events, as over Socket.IO, on a plain WebSocket",
            List.of(),
            request -> {
              var caller = request.caller();
              return new Reply.Upgrade(
                  webSocketConnection ->
                      new PlainSocketPeer(webSocketConnection, dependencies.newId(), caller)
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
