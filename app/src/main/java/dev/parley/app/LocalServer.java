package dev.parley.app;

import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A server inside this process: the one place that knows how a server is configured and started.
///
/// A stub until `dev.parley.server` has its `Config` and `Server` (see the report of this branch).
final class LocalServer implements AutoCloseable {

  private final URI url;

  private LocalServer(URI url) {
    this.url = url;
  }

  /// Starts a server; it accepts requests when this returns.
  ///
  /// @throws Exit if the configuration is wrong, or the port or the data folder taken
  static LocalServer start(ServeOptions options, Path data, Map<String, String> environment) {
    throw new Exit(Exit.FAILED, "This build has no server yet.");
  }

  /// Reads the configuration without starting anything.
  ///
  /// @throws Exit if it is wrong
  static void check(@Nullable Path config, Map<String, String> environment) {}

  URI url() {
    return url;
  }

  /// Drains for at most ten seconds.
  @Override
  public void close() {}
}
