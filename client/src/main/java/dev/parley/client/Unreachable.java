package dev.parley.client;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/// No server answers at the address, or not any more.
public final class Unreachable extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final URI url;

  Unreachable(URI url, String why, @Nullable Throwable cause) {
    super("No Parley server answers at " + url + ": " + why, cause);
    this.url = url;
  }

  /// Where the server was looked for.
  public URI url() {
    return url;
  }
}
