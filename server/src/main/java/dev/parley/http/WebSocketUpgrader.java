package dev.parley.http;

import dev.parley.audit.AuditEvent.Actor;
import dev.parley.http.Problem.HttpProblemException;
import dev.parley.protocol.Rejection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.websocket.core.Configuration;
import org.eclipse.jetty.websocket.core.WebSocketComponents;
import org.eclipse.jetty.websocket.core.server.Handshaker;

/// Upgrades requests to WebSockets.
///
/// Compression is off: it would cost each connection more memory than everything else.
final class WebSocketUpgrader {

  private static final int BUFFER = 4 * 1024;

  private final Handshaker handshaker = Handshaker.newInstance();
  private final WebSocketComponents components;
  private final JettyWebSocket.JettyWebSocketDependencies dependencies;

  WebSocketUpgrader(
      WebSocketComponents components, JettyWebSocket.JettyWebSocketDependencies dependencies) {
    this.components = components;
    this.dependencies = dependencies;
  }

  /// Upgrades the request.
  ///
  /// @throws Rejection.Busy if there are too many streams
  void upgrade(
      WebSocketConnection.WebSocketHandler webSocketHandler,
      Actor actor,
      Request request,
      Response response,
      Callback callback) {
    dependencies.streams().checkFree();
    var done =
        handshaker.upgradeRequest(
            (_, answer, _) -> {
              answer.setExtensions(List.of());
              return new JettyWebSocket(webSocketHandler, actor, dependencies);
            },
            request,
            response,
            callback,
            components,
            WebSocketUpgrader::configure);
    if (!done) {
      throw new HttpProblemException(
          new Reply.Rejected(
              Problem.of(426, "upgrade-required", "this path is for WebSockets, version 13"),
              Map.of("Upgrade", "websocket", "Connection", "Upgrade")));
    }
  }

  private static void configure(Configuration socket) {
    // JettyWebSocket detects silent peers, and SocketWriter detects peers that do not read.
    socket.setIdleTimeout(Duration.ZERO);
    socket.setInputBufferSize(BUFFER);
    socket.setOutputBufferSize(BUFFER);
  }
}
