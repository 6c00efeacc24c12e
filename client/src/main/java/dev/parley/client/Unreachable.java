package dev.parley.client;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/// No server replies at the address.
public final class Unreachable extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final URI url;

  Unreachable(URI url, String why, @Nullable Throwable cause) {
    super("No Parley server answers at " + url + ": " + why, cause);
    this.url = url;
  }

  /// The address of the server.
  public URI url() {
    return url;
  }
}
