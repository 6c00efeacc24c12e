package dev.parley.a2a.remote;

import dev.parley.a2a.Version;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Where an agent elsewhere is, and how it is talked to; the agent's card decides what is not said here.
///
/// @param headers sent with every request to this origin, and to no other
/// @param timeout how long an answer is waited for
/// @param silence how long a stream may say nothing before the agent is asked where it stands
public record RemoteSettings(
    URI url,
    @Nullable Version version,
    @Nullable Transport transport,
    Map<String, String> headers,
    Duration timeout,
    Duration silence) {

  public static final Duration TIMEOUT = Duration.ofSeconds(30);
  public static final Duration SILENCE = Duration.ofMinutes(2);

  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");
  private static final int HTTP = 80;
  private static final int HTTPS = 443;

  public RemoteSettings {
    headers = Map.copyOf(headers);
  }

  /// An address below the agent's.
  URI at(String path) {
    return below(url, path);
  }

  static URI below(URI base, String path) {
    var text = base.toString();
    return URI.create((text.endsWith("/") ? text.substring(0, text.length() - 1) : text) + path);
  }

  /// True if this is at the same origin: the names of this machine for itself are the same.
  boolean covers(URI other) {
    return origin(url).equals(origin(other));
  }

  private static String origin(URI url) {
    var scheme = String.valueOf(url.getScheme()).toLowerCase(Locale.ROOT);
    var host = String.valueOf(url.getHost()).toLowerCase(Locale.ROOT);
    var port = url.getPort() >= 0 ? url.getPort() : scheme.equals("https") ? HTTPS : HTTP;
    return scheme + "://" + (LOOPBACK.contains(host) ? "localhost" : host) + ":" + port;
  }

  /// True if nobody can listen: it is this machine, by a name that nobody can give another meaning, or the line
  /// is encrypted.
  boolean confidential() {
    var host = String.valueOf(url.getHost()).toLowerCase(Locale.ROOT);
    return "https".equalsIgnoreCase(url.getScheme())
        || LOOPBACK.contains(host)
        || host.matches("127(\\.\\d{1,3}){3}");
  }

  /// The host, with its port if that is not the usual one: what people's keys are kept for.
  String host() {
    return url.getPort() < 0 ? url.getHost() : url.getHost() + ":" + url.getPort();
  }

  /// Never shows a header.
  @Override
  public String toString() {
    return "a2a " + url;
  }
}
