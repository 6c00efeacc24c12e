package dev.parley.tool;

import java.util.Optional;

/// Provides the credentials for tools that access the network.
@FunctionalInterface
public interface Credentials {

  /// The bearer token of `owner` for exactly this host, or `host:port` if the port is not the
  /// default.
  Optional<String> bearer(String owner, String host);

  /// A provider without credentials.
  static Credentials none() {
    return (_, _) -> Optional.empty();
  }
}
