package dev.parley.tool;

import java.util.Optional;

/// Where the tools that talk to the network find what to show there.
@FunctionalInterface
public interface Credentials {

  /// The bearer token that `owner` has for exactly this host, or `host:port` if the port is not the
  /// usual one.
  Optional<String> bearer(String owner, String host);

  /// Nobody has any.
  static Credentials none() {
    return (_, _) -> Optional.empty();
  }
}
