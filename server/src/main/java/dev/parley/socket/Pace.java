package dev.parley.socket;

import java.time.Duration;

/// How often a connection is tried, how long things may take on it, and how much may wait for its peer.
///
/// `outbox` counts bytes.
public record Pace(
    Duration pingInterval,
    Duration pingTimeout,
    Duration connectTimeout,
    Duration upgradeTimeout,
    int outbox) {

  /// What clients of Socket.IO expect.
  public static final Pace USUAL =
      new Pace(
          Duration.ofSeconds(25),
          Duration.ofSeconds(20),
          Duration.ofSeconds(15),
          Duration.ofSeconds(10),
          128 * 1024);
}
