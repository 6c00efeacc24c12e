package dev.parley.http;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;

/// Finds the active server of a cluster.
@FunctionalInterface
public interface ServerLocation {

  /// Where the active server is.
  sealed interface Location {}

  /// In this process.
  record Here() implements Location {}

  /// At an address of another server.
  record Elsewhere(URI address) implements Location {

    /// True if a connection to that server can be opened.
    public boolean reachable() {
      try (var _ = ForwardingHandler.connect(address)) {
        return true;
      } catch (IOException unreachable) {
        return false;
      }
    }
  }

  /// No server is active, or the database that knows it cannot be reached.
  record Unknown() implements Location {}

  /// Waits until a server is active, at most `patience`.
  Location find(Duration patience) throws InterruptedException;
}
