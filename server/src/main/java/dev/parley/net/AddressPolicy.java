package dev.parley.net;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/// Decides which addresses Parley may send a request to when the address comes from a model, a
/// caller or another server. Public addresses are allowed, and the private hosts that the operator
/// has listed.
///
/// Addresses in the configuration need no check, because the operator chose them.
public final class AddressPolicy {

  private static final int URL_MAX = 8_192;
  private static final Pattern NUMBER = Pattern.compile("\\d+|0[xX][0-9a-fA-F]*");
  private static final Pattern DOTTED =
      Pattern.compile("(?:(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(?:\\.(?!$)|$)){4}");

  /// Resolves the addresses of a host.
  public interface HostResolver {
    InetAddress[] resolve(String host) throws UnknownHostException;
  }

  /// The target of a request. `address` was checked; `named` is true if the operator has listed the
  /// host.
  public record CheckedTarget(URI uri, InetAddress address, boolean named) {

    public String host() {
      return uri.getHost().toLowerCase(Locale.ROOT);
    }

    public boolean secure() {
      return uri.getScheme().equalsIgnoreCase("https");
    }

    public int port() {
      return AddressPolicy.port(uri);
    }

    /// True if the target is this machine, by a name that always means this machine.
    public boolean local() {
      var literal = host().startsWith("[") || DOTTED.matcher(host()).matches();
      return address.isLoopbackAddress() && (literal || host().equals("localhost"));
    }

    /// The host, with its port if it is not the default one. Credentials are stored for this name.
    public String service() {
      return port() == (secure() ? 443 : 80) ? host() : host() + ":" + port();
    }

    public boolean sameOrigin(CheckedTarget other) {
      return secure() == other.secure() && host().equals(other.host()) && port() == other.port();
    }
  }

  /// The policy does not allow a URL. The message is written for the model.
  public static sealed class AddressRejected extends Exception {
    private static final long serialVersionUID = 1L;

    public AddressRejected(String message) {
      super(message);
    }
  }

  /// The host cannot be resolved, at least at the moment.
  public static final class UnknownHost extends AddressRejected {
    private static final long serialVersionUID = 1L;

    UnknownHost(String host) {
      super("unknown host: " + host);
    }
  }

  private final Set<String> named;
  private final HostResolver hostResolver;
  private final Predicate<InetAddress> allowed;

  /// `named` are hosts, as `host` or `host:port`, that may have private addresses.
  public AddressPolicy(Set<String> named) {
    this(named, InetAddress::getAllByName, PublicAddresses::isPublic);
  }

  public AddressPolicy(Set<String> named, HostResolver hostResolver, Predicate<InetAddress> open) {
    this.named = Set.copyOf(named);
    this.hostResolver = hostResolver;
    this.allowed = open;
  }

  /// A policy that allows all addresses, for operators that configure it.
  public static AddressPolicy allowAll() {
    return new AddressPolicy(Set.of(), InetAddress::getAllByName, _ -> true);
  }

  /// The same policy, with the host and port of a configured URL added to the listed hosts.
  public AddressPolicy allowing(URI configured) {
    var more = new HashSet<>(named);
    more.add(configured.getHost().toLowerCase(Locale.ROOT) + ":" + port(configured));
    return new AddressPolicy(more, hostResolver, allowed);
  }

  /// Returns the target of a URL if a request to it is allowed. All addresses of its host are
  /// checked.
  ///
  /// @throws Refused with the reason
  public CheckedTarget check(String url) throws AddressRejected {
    var uri = parse(url);
    var host = uri.getHost().toLowerCase(Locale.ROOT);
    checkNumbers(host);
    var isNamed = named.contains(host) || named.contains(host + ":" + port(uri));
    var addresses = addresses(host);
    if (!isNamed && !addresses.stream().allMatch(allowed)) {
      throw new AddressRejected(
          "the host is private, or this machine, and is not listed in privateHosts: " + host);
    }
    return new CheckedTarget(uri, addresses.getFirst(), isNamed);
  }

  /// Returns the target of a URL if credentials may be sent to it: over HTTPS, or to this machine.
  ///
  /// @throws Refused with the reason
  public CheckedTarget checkForCredentials(String url) throws AddressRejected {
    var checkedTarget = check(url);
    if (!checkedTarget.secure() && !checkedTarget.address().isLoopbackAddress()) {
      throw new AddressRejected("credentials are sent over https only: " + checkedTarget.host());
    }
    return checkedTarget;
  }

  private static int port(URI uri) {
    if (uri.getPort() >= 0) {
      return uri.getPort();
    }
    return "https".equalsIgnoreCase(uri.getScheme()) ? 443 : 80;
  }

  private static URI parse(String url) throws AddressRejected {
    if (url.length() > URL_MAX) {
      throw new AddressRejected("a URL may have at most " + URL_MAX + " characters");
    }
    try {
      var uri = new URI(url.strip());
      var scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
      if (!scheme.equals("http") && !scheme.equals("https")) {
        throw new AddressRejected("the URL must begin with http:// or https://");
      }
      if (uri.getHost() == null || uri.getHost().isEmpty() || uri.getHost().contains("%")) {
        throw new AddressRejected(
            "the URL needs a host: letters, digits, dots and dashes, or an address");
      }
      if (uri.getRawUserInfo() != null) {
        throw new AddressRejected("the URL must not contain a user name or a password");
      }
      if (uri.getPort() == 0 || uri.getPort() > 65_535) {
        throw new AddressRejected("the port must be between 1 and 65535");
      }
      return uri;
    } catch (URISyntaxException malformed) {
      throw new AddressRejected("this is not a URL: " + malformed.getReason());
    }
  }

  /// Rejects hosts such as `2130706433`, `127.1`, `0x7f.0.0.1` or `0177.0.0.1`, which programs
  /// interpret differently.
  private static void checkNumbers(String host) throws AddressRejected {
    var bare = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    var last = bare.substring(bare.lastIndexOf('.') + 1);
    if (!host.startsWith("[")
        && NUMBER.matcher(last).matches()
        && !DOTTED.matcher(host).matches()) {
      throw new AddressRejected(
          "an IPv4 address must be four numbers from 0 to 255, such as 192.0.2.1");
    }
  }

  private List<InetAddress> addresses(String host) throws AddressRejected {
    try {
      var addresses = Arrays.asList(hostResolver.resolve(host));
      if (!addresses.isEmpty()) {
        return addresses;
      }
    } catch (UnknownHostException | IllegalArgumentException unknown) {
      // Reported below.
    }
    throw new UnknownHost(host);
  }
}
