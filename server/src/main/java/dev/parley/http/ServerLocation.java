package dev.parley.http;

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
  record Elsewhere(URI address) implements Location {}

  /// No server is active, or the database that knows it cannot be reached.
  record Unknown() implements Location {}

  /// Waits until a server is active, at most `patience`.
  Location find(Duration patience) throws InterruptedException;
}
