package dev.parley.socketio;

import java.time.Duration;

/// The settings of Socket.IO connections: ping interval, timeouts, and the size of the outbox.
///
/// The size of the outbox is in bytes.
public record SocketIoSettings(
    Duration pingInterval,
    Duration pingTimeout,
    Duration connectTimeout,
    Duration upgradeTimeout,
    int outboxBytes) {

  /// The defaults, as Socket.IO clients expect them.
  public static final SocketIoSettings DEFAULTS =
      new SocketIoSettings(
          Duration.ofSeconds(25),
          Duration.ofSeconds(20),
          Duration.ofSeconds(15),
          Duration.ofSeconds(10),
          128 * 1024);
}
