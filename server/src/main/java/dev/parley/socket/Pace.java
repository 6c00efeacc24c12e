package dev.parley.socket;

import java.time.Duration;

/// The settings of Socket.IO connections: ping interval, timeouts, and the size of the outbox.
///
/// The size of the outbox is in bytes.
public record Pace(
    Duration pingInterval,
    Duration pingTimeout,
    Duration connectTimeout,
    Duration upgradeTimeout,
    int outbox) {

  /// The defaults, as Socket.IO clients expect them.
  public static final Pace USUAL =
      new Pace(
          Duration.ofSeconds(25),
          Duration.ofSeconds(20),
          Duration.ofSeconds(15),
          Duration.ofSeconds(10),
          128 * 1024);
}
