package dev.parley.proxy;

import java.net.URI;
import java.time.Duration;

/// Where a service is that runs agents, and how long it may say nothing.
public record ProxySettings(URI url, Duration silence) {

  /// How long a service may say nothing, unless configured.
  public static final Duration SILENCE = Duration.ofMinutes(10);

  /// Where the service has `path`.
  URI at(String path) {
    var base = url.toString();
    return URI.create((base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + path);
  }
}
