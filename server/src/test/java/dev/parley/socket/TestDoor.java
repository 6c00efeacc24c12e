package dev.parley.socket;

import dev.parley.door.HttpDoor;
import dev.parley.door.Limits;
import dev.parley.door.Metrics;
import dev.parley.door.Settings;
import dev.parley.door.Streams;
import dev.parley.door.Tokens;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/// A listener with only socket routes, whose sessions an [EchoHost] creates.
final class TestDoor implements AutoCloseable {

  final EchoHost host = new EchoHost();
  final Streams streams;
  final SocketDoor sockets;
  final HttpDoor http;

  TestDoor(int port, Limits limits, Pace pace, Tokens.Token... tokens) {
    streams = new Streams(limits.streams());
    sockets =
        new SocketDoor(
            new SocketDoor.Parts(
                new Tokens(List.of(tokens)), streams, limits, UUID::randomUUID, pace),
            host);
    var settings =
        new Settings(
            "127.0.0.1",
            port,
            Set.of(),
            Set.of("https://good.example"),
            List.of(tokens),
            Duration.ZERO,
            limits);
    http =
        new HttpDoor(
            new HttpDoor.Parts(
                settings, new Metrics(), streams, InstantSource.system(), UUID::randomUUID),
            sockets.routes("/ws"));
    http.start();
  }

  TestDoor(Tokens.Token... tokens) {
    this(0, Limits.USUAL, Pace.USUAL, tokens);
  }

  String url() {
    return "http://127.0.0.1:" + http.port();
  }

  @Override
  public void close() {
    http.close();
  }
}
