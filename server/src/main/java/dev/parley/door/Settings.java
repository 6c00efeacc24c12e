package dev.parley.door;

import dev.parley.door.Tokens.Token;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/// The listener's address, allowed hosts and origins, tokens, and limits.
///
/// A `heartbeat` of zero switches heartbeats off.
public record Settings(
    String host,
    int port,
    Set<String> allowedHosts,
    Set<String> allowedOrigins,
    List<Token> tokens,
    Duration heartbeat,
    Limits limits) {

  public Settings {
    allowedHosts = Set.copyOf(allowedHosts);
    allowedOrigins = Set.copyOf(allowedOrigins);
    tokens = List.copyOf(tokens);
  }

  /// True if only this machine can reach the listener.
  public boolean loopback() {
    return HostCheck.loopback(host);
  }
}
