package dev.parley.http;

import dev.parley.http.ServerLocation.Elsewhere;
import dev.parley.http.ServerLocation.Here;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// Forwards the connections of clients to the active server of a cluster.
///
/// If no server is active at the moment, requests wait, so that a takeover looks like a pause.
final class ForwardingHandler extends RequestHandler {

  /// How long a request waits for an active server. Longer than a takeover.
  static final Duration PATIENCE = Duration.ofSeconds(15);

  /// The paths that each server answers itself.
  private static final Set<String> OWN_PATHS = Set.of("/healthz", "/readyz", "/metrics", "/health");

  /// The state of the cluster. Each server can answer, but only the active one knows its load.
  private static final String CLUSTER_PATHS = "/api/cluster";

  private static final Duration RETRY = Duration.ofMillis(50);
  private static final int CONNECT_MILLIS = 2_000;
  private static final int HTTPS_PORT = 443;
  private static final int HTTP_PORT = 80;

  /// Finds the active server, waits for other servers, and writes errors. `own` answers what each
  /// server answers itself, `current` is the handler of the listener.
  record ForwardingDependencies(
      ServerLocation location,
      ForwardedClient forwardedClient,
      RequestHandler own,
      Supplier<RequestHandler> current,
      OpenTunnels tunnels,
      DisconnectDetector disconnects,
      Time time,
      Threads threads) {}

  private final ForwardingDependencies dependencies;

  ForwardingHandler(ForwardingDependencies dependencies) {
    this.dependencies = dependencies;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback)
      throws InterruptedException {
    var path = String.valueOf(request.getHttpURI().getPath());
    if (OWN_PATHS.contains(path)) {
      return dependencies.own().handle(request, response, callback);
    }
    var forwarded = isForwarded(request);
    var deadline = dependencies.time().deadline(PATIENCE);
    while (dependencies.time().remaining(deadline) > 0) {
      var generation = dependencies.tunnels().generation();
      switch (dependencies.location().find(patience(path))) {
        case Here _ -> {
          var current = dependencies.current().get();
          if (current != this) {
            return current.handle(request, response, callback);
          }
        }
        case Elsewhere(var address) -> {
          // Another server believes that this one is active. It may be so in a moment.
          if (!forwarded && tunnel(address, request, generation)) {
            return true;
          }
        }
        case ServerLocation.Unknown _ -> {
          if (path.startsWith(CLUSTER_PATHS)) {
            return dependencies.own().handle(request, response, callback);
          }
        }
      }
      dependencies.time().sleep(RETRY);
    }
    var writer =
        new ReplyWriter(
            response,
            callback,
            ErrorFormat.DEFAULT,
            dependencies.disconnects(),
            dependencies.time());
    try {
      writer.write(
          ReplyWriter.reply(
              new Rejection.Unavailable(
                  "no server of the cluster is active at the moment; try again")),
          false);
    } catch (IOException gone) {
      callback.failed(gone);
    }
    return true;
  }

  /// How long a request waits for an active server. The state of the cluster is of interest at once
  /// when there is none.
  private static Duration patience(String path) {
    return path.startsWith(CLUSTER_PATHS) ? Duration.ZERO : PATIENCE;
  }

  /// True if another server of the cluster has forwarded this request. It is not forwarded again:
  /// servers whose addresses are wrong would forward it to each other, or to themselves, for ever.
  private boolean isForwarded(Request request) {
    var header = request.getHeaders().get(ForwardedClient.HEADER);
    return header != null && dependencies.forwardedClient().verify(header).isPresent();
  }

  /// Sends the head of the request to the server at `address`, and connects the client with it. False
  /// if the server cannot be reached.
  private boolean tunnel(URI address, Request request, long generation) {
    Socket server;
    try {
      server = connect(address);
    } catch (IOException unreachable) {
      return false;
    }
    try {
      server.getOutputStream().write(head(request));
    } catch (IOException unreachable) {
      close(server);
      return false;
    }
    TunnelConnection.open(
        request.getConnectionMetaData().getConnection(),
        server,
        dependencies.tunnels(),
        generation,
        dependencies.threads());
    return true;
  }

  static Socket connect(URI address) throws IOException {
    var encrypted = "https".equals(address.getScheme());
    var port = address.getPort() >= 0 ? address.getPort() : encrypted ? HTTPS_PORT : HTTP_PORT;
    var socket = new Socket();
    var connected = false;
    try {
      socket.setTcpNoDelay(true);
      // A tunnel may be silent for ever, so only the system notices that the other machine is gone.
      socket.setKeepAlive(true);
      socket.connect(new InetSocketAddress(address.getHost(), port), CONNECT_MILLIS);
      if (encrypted) {
        var factory = (SSLSocketFactory) SSLSocketFactory.getDefault();
        var secured = (SSLSocket) factory.createSocket(socket, address.getHost(), port, true);
        var parameters = secured.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secured.setSSLParameters(parameters);
        secured.setSoTimeout(CONNECT_MILLIS);
        secured.startHandshake();
        secured.setSoTimeout(0);
        connected = true;
        return secured;
      }
      connected = true;
      return socket;
    } finally {
      if (!connected) {
        close(socket);
      }
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException useless) {
      // It is closed in any case.
    }
  }

  /// The head of the request as the client sent it, with the header that names the client.
  private byte[] head(Request request) {
    var text = new StringBuilder();
    text.append(request.getMethod())
        .append(' ')
        .append(request.getHttpURI().getPathQuery())
        .append(' ')
        .append(request.getConnectionMetaData().getHttpVersion().asString())
        .append("\r\n");
    for (var field : request.getHeaders()) {
      if (!ForwardedClient.HEADER.equalsIgnoreCase(field.getName())) {
        text.append(field.getName()).append(": ").append(field.getValue()).append("\r\n");
      }
    }
    text.append(ForwardedClient.HEADER)
        .append(": ")
        .append(
            dependencies
                .forwardedClient()
                .sign(JettyHandler.connection(request), request.isSecure()))
        .append("\r\n\r\n");
    return text.toString().getBytes(StandardCharsets.ISO_8859_1);
  }
}
