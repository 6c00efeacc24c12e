package dev.parley.http;

import dev.parley.protocol.Rejection;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Rejects requests of other web sites' pages: those with a foreign host name (DNS rebinding) and
/// cross-site requests.
final class HostCheck {

  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127(?:\\.\\d{1,3}){3}|\\[::1]|\\[0:0:0:0:0:0:0:1]");

  /// Paths to which other sites may link: the page, the callbacks of sign-ins, and an invitation.
  private static final Set<String> NAVIGATION_PATHS =
      Set.of("/", JettyHandler.CALLBACK, JettyHandler.SIGN_IN_CALLBACK, JettyHandler.INVITATION);

  private static final Pattern PORT = Pattern.compile(":\\d{1,5}$");

  private final Set<String> hosts;
  private final Set<String> origins;

  /// @param hosts host names that are allowed besides those of the loopback, without a port
  /// @param origins other origins that may use this server, such as `https://example.org`
  HostCheck(Set<String> hosts, Set<String> origins) {
    this.hosts = hosts.stream().map(HostCheck::lower).collect(Collectors.toUnmodifiableSet());
    this.origins = origins.stream().map(HostCheck::lower).collect(Collectors.toUnmodifiableSet());
  }

  /// True if `host` is a loopback name or address.
  static boolean loopback(String host) {
    return LOOPBACK.matcher(lower(host)).matches() || host.equals("::1");
  }

  /// The headers that identify a request's origin; `local` is the server's address of the
  /// connection.
  record RequestOrigin(
      String method,
      String path,
      Optional<String> host,
      String local,
      Optional<String> origin,
      Optional<String> fetchSite,
      Optional<String> fetchMode) {}

  /// Rejects a request that is not allowed.
  ///
  /// @return the allowed foreign origin, which needs CORS headers in the reply
  Optional<String> check(RequestOrigin requestOrigin) {
    var host = requestOrigin.host().map(HostCheck::lower).orElse("");
    var name = PORT.matcher(host).replaceFirst("");
    if (!loopback(name) && !hosts.contains(name) && !name.equals(requestOrigin.local())) {
      throw new Rejection.Forbidden(
          "host-not-allowed",
          "this host name is not allowed; see allowedHosts in the configuration");
    }
    if (requestOrigin.origin().isPresent()) {
      return checkOrigin(lower(requestOrigin.origin().get()), host);
    }
    var crossSite = requestOrigin.fetchSite().filter("cross-site"::equalsIgnoreCase).isPresent();
    if (crossSite && !navigation(requestOrigin)) {
      throw notAllowed();
    }
    return Optional.empty();
  }

  private Optional<String> checkOrigin(String origin, String host) {
    if (origin.equals("http://" + host) || origin.equals("https://" + host)) {
      return Optional.empty();
    }
    if (origins.contains(origin)) {
      return Optional.of(origin);
    }
    throw notAllowed();
  }

  private static Rejection notAllowed() {
    return new Rejection.Forbidden(
        "origin-not-allowed",
        "cross-site requests are not allowed; see allowedOrigins in the configuration");
  }

  private static boolean navigation(RequestOrigin requestOrigin) {
    return requestOrigin.method().equals("GET")
        && NAVIGATION_PATHS.contains(requestOrigin.path())
        && requestOrigin.fetchMode().filter("navigate"::equals).isPresent();
  }

  private static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }
}
