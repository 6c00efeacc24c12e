package dev.parley.http;

import dev.parley.http.ApiTokens.ApiToken;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/// The listener's address, allowed hosts and origins, tokens, limits, TLS and proxies.
///
/// A `heartbeat` of zero switches heartbeats off. `loginRequired` is true if callers must send a
/// credential even if there are no tokens.
public record HttpSettings(
    String host,
    int port,
    Set<String> allowedHosts,
    Set<String> allowedOrigins,
    List<ApiToken> tokens,
    Duration heartbeat,
    HttpLimits limits,
    EdgeSettings edge,
    boolean loginRequired) {

  public HttpSettings {
    allowedHosts = Set.copyOf(allowedHosts);
    allowedOrigins = Set.copyOf(allowedOrigins);
    tokens = List.copyOf(tokens);
  }

  /// Settings without TLS, and with the usual proxies.
  public HttpSettings(
      String host,
      int port,
      Set<String> allowedHosts,
      Set<String> allowedOrigins,
      List<ApiToken> tokens,
      Duration heartbeat,
      HttpLimits limits) {
    this(
        host, port, allowedHosts, allowedOrigins, tokens, heartbeat, limits, EdgeSettings.DEFAULTS);
  }

  /// Settings that require a credential only if there are tokens.
  public HttpSettings(
      String host,
      int port,
      Set<String> allowedHosts,
      Set<String> allowedOrigins,
      List<ApiToken> tokens,
      Duration heartbeat,
      HttpLimits limits,
      EdgeSettings edge) {
    this(host, port, allowedHosts, allowedOrigins, tokens, heartbeat, limits, edge, false);
  }

  /// True if callers must send a credential.
  public boolean authenticated() {
    return loginRequired || !tokens.isEmpty();
  }

  /// The URL of a listener with these settings that is bound to `bound`.
  public String url(int bound) {
    var scheme = edge.tls() == null ? "http://" : "https://";
    return scheme + (host.contains(":") ? "[" + host + "]" : host) + ":" + bound;
  }

  /// True if only this machine can reach the listener.
  public boolean loopback() {
    return HostCheck.loopback(host);
  }
}
