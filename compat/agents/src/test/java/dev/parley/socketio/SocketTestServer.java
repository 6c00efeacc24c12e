package dev.parley.socketio;

import dev.parley.http.ApiTokens;
import dev.parley.http.HttpLimits;
import dev.parley.http.HttpListener;
import dev.parley.http.HttpSettings;
import dev.parley.http.Metrics;
import dev.parley.http.OpenStreams;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/// A listener with only socket routes, whose sessions an [EchoSessionFactory] creates, and whose
/// time a test moves.
final class SocketTestServer implements AutoCloseable {

  final EchoSessionFactory host = new EchoSessionFactory();
  final ManualTime time = new ManualTime();
  final OpenStreams streams;
  final SocketIoApi sockets;
  final HttpListener http;

  SocketTestServer(
      int port,
      HttpLimits httpLimits,
      SocketIoSettings socketIoSettings,
      ApiTokens.ApiToken... tokens) {
    streams = new OpenStreams(httpLimits.streams(), time);
    sockets =
        new SocketIoApi(
            new SocketIoDependencies(
                new ApiTokens(List.of(tokens), time),
                streams,
                httpLimits,
                time,
                new SystemThreads(),
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
                httpSettings, new Metrics(), streams, time, new SystemThreads(), UUID::randomUUID),
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
