package dev.parley.door;

import dev.parley.protocol.Rejection;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Keeps out web pages from elsewhere: those that reach us under another name (DNS rebinding) and those
/// that send requests across sites.
final class HostCheck {

  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127(?:\\.\\d{1,3}){3}|\\[::1]|\\[0:0:0:0:0:0:0:1]");

  /// Where browsers may come to from elsewhere: the page, and the end of a sign-in.
  private static final Set<String> ENTRANCES = Set.of("/", JettyHandler.CALLBACK);

  private static final Pattern PORT = Pattern.compile(":\\d{1,5}$");

  private final Set<String> hosts;
  private final Set<String> origins;

  /// @param hosts names that requests may use beside those of the loopback, without a port
  /// @param origins pages elsewhere that may use this server, such as `https://example.org`
  HostCheck(Set<String> hosts, Set<String> origins) {
    this.hosts = hosts.stream().map(HostCheck::lower).collect(Collectors.toUnmodifiableSet());
    this.origins = origins.stream().map(HostCheck::lower).collect(Collectors.toUnmodifiableSet());
  }

  /// True if `host` is a name that only this machine has.
  static boolean loopback(String host) {
    return LOOPBACK.matcher(lower(host)).matches() || host.equals("::1");
  }

  /// What the headers say of where a request comes from; `local` is the address it came to.
  record Asked(
      String method,
      String path,
      Optional<String> host,
      String local,
      Optional<String> origin,
      Optional<String> fetchSite,
      Optional<String> fetchMode) {}

  /// Refuses a request that must not come in.
  ///
  /// @return the origin that must be told it may read the reply, if it is not ours
  Optional<String> check(Asked asked) {
    var host = asked.host().map(HostCheck::lower).orElse("");
    var name = PORT.matcher(host).replaceFirst("");
    if (!loopback(name) && !hosts.contains(name) && !name.equals(asked.local())) {
      throw new Rejection.Forbidden(
          "host-not-allowed",
          "requests for this host are not answered; see allowedHosts in the configuration");
    }
    if (asked.origin().isPresent()) {
      return checkOrigin(lower(asked.origin().get()), host);
    }
    var crossSite = asked.fetchSite().filter("cross-site"::equalsIgnoreCase).isPresent();
    if (crossSite && !navigation(asked)) {
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
        "pages from elsewhere may not use this server; see allowedOrigins in the configuration");
  }

  private static boolean navigation(Asked asked) {
    return asked.method().equals("GET")
        && ENTRANCES.contains(asked.path())
        && asked.fetchMode().filter("navigate"::equals).isPresent();
  }

  private static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }
}
