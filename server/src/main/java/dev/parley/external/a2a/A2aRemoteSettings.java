package dev.parley.external.a2a;

import dev.parley.a2a.A2aVersion;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The address of a remote agent, and how to connect to it. The agent's card decides what is not
/// set.
///
/// @param headers sent with every request to this origin, and to no other origin
/// @param timeout how long to wait for a response
/// @param silence how long a stream may be silent before the task is polled
public record A2aRemoteSettings(
    URI url,
    @Nullable A2aVersion version,
    @Nullable A2aTransport transport,
    Map<String, String> headers,
    Duration timeout,
    Duration silence) {

  public static final Duration TIMEOUT = Duration.ofSeconds(30);
  public static final Duration SILENCE = Duration.ofMinutes(2);

  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");
  private static final int HTTP = 80;
  private static final int HTTPS = 443;

  public A2aRemoteSettings {
    headers = Map.copyOf(headers);
  }

  /// An address below the agent's address.
  URI resolve(String path) {
    return appendPath(url, path);
  }

  static URI appendPath(URI base, String path) {
    var text = base.toString();
    return URI.create((text.endsWith("/") ? text.substring(0, text.length() - 1) : text) + path);
  }

  /// True if the address has the same origin. All loopback names count as one host.
  boolean hasSameOrigin(URI other) {
    return origin(url).equals(origin(other));
  }

  private static String origin(URI url) {
    var scheme = String.valueOf(url.getScheme()).toLowerCase(Locale.ROOT);
    var host = String.valueOf(url.getHost()).toLowerCase(Locale.ROOT);
    var port = url.getPort() >= 0 ? url.getPort() : scheme.equals("https") ? HTTPS : HTTP;
    return scheme + "://" + (LOOPBACK.contains(host) ? "localhost" : host) + ":" + port;
  }

  /// True if others cannot read the traffic: it is encrypted, or stays on this machine by a fixed
  /// loopback name.
  boolean confidential() {
    var host = String.valueOf(url.getHost()).toLowerCase(Locale.ROOT);
    return "https".equalsIgnoreCase(url.getScheme())
        || LOOPBACK.contains(host)
        || host.matches("127(\\.\\d{1,3}){3}");
  }

  /// The host, and its port if the address has one. Users' keys are stored by this name.
  String host() {
    return url.getPort() < 0 ? url.getHost() : url.getHost() + ":" + url.getPort();
  }

  /// Never shows a header.
  @Override
  public String toString() {
    return "a2a " + url;
  }
}
