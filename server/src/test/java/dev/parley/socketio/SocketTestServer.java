package dev.parley.socketio;

import dev.parley.http.ApiTokens;
import dev.parley.http.HttpLimits;
import dev.parley.http.HttpListener;
import dev.parley.http.HttpSettings;
import dev.parley.http.Metrics;
import dev.parley.http.OpenStreams;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/// A listener with only socket routes, whose sessions an [EchoSessionFactory] creates.
final class SocketTestServer implements AutoCloseable {

  final EchoSessionFactory host = new EchoSessionFactory();
  final OpenStreams streams;
  final SocketIoApi sockets;
  final HttpListener http;

  SocketTestServer(
      int port,
      HttpLimits httpLimits,
      SocketIoSettings socketIoSettings,
      ApiTokens.ApiToken... tokens) {
    streams = new OpenStreams(httpLimits.streams());
    sockets =
        new SocketIoApi(
            new SocketIoApi.SocketIoApiDependencies(
                new ApiTokens(List.of(tokens)),
                streams,
                httpLimits,
                UUID::randomUUID,
                socketIoSettings),
            host);
    var httpSettings =
        new HttpSettings(
            "127.0.0.1",
            port,
            Set.of(),
            Set.of("https://good.example"),
            List.of(tokens),
            Duration.ZERO,
            httpLimits);
    http =
        new HttpListener(
            new HttpListener.HttpListenerDependencies(
                httpSettings, new Metrics(), streams, InstantSource.system(), UUID::randomUUID),
            sockets.routes("/ws"));
    http.start();
  }

  SocketTestServer(ApiTokens.ApiToken... tokens) {
    this(0, HttpLimits.DEFAULTS, SocketIoSettings.DEFAULTS, tokens);
  }

  String url() {
    return "http://127.0.0.1:" + http.port();
  }

  @Override
  public void close() {
    http.close();
  }
}
