package dev.parley.external.proxy;

import java.net.URI;
import java.time.Duration;

/// The address of a proxy service, and how long its stream may be silent.
public record ProxySettings(URI url, Duration silence) {

  /// The default for `silence`.
  public static final Duration SILENCE = Duration.ofMinutes(10);

  /// The address of a path of the service.
  URI at(String path) {
    var base = url.toString();
    return URI.create((base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + path);
  }
}
