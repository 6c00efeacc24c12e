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
  /// host, or allows all hosts.
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

    /// True if a connection to the host needs no fixed address: TLS verifies its name, the operator
    /// trusts it, or it is an address.
    boolean canConnectDirectly() {
      return secure() || named || host().startsWith("[") || host().equals(address.getHostAddress());
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
  private final boolean allowsAll;

  /// `named` are hosts, as `host` or `host:port`, that may have private addresses.
  public AddressPolicy(Set<String> named) {
    this(named, InetAddress::getAllByName, PublicAddresses::isPublic);
  }

  public AddressPolicy(Set<String> named, HostResolver hostResolver, Predicate<InetAddress> open) {
    this(named, hostResolver, open, false);
  }

  private AddressPolicy(
      Set<String> named,
      HostResolver hostResolver,
      Predicate<InetAddress> open,
      boolean allowsAll) {
    this.named = Set.copyOf(named);
    this.hostResolver = hostResolver;
    this.allowed = open;
    this.allowsAll = allowsAll;
  }

  /// A policy that allows all addresses, for operators that configure it.
  public static AddressPolicy allowAll() {
    return new AddressPolicy(Set.of(), InetAddress::getAllByName, _ -> true, true);
  }

  /// The same policy, with the host and port of a configured URL added to the listed hosts.
  public AddressPolicy allowing(URI configured) {
    var more = new HashSet<>(named);
    more.add(configured.getHost().toLowerCase(Locale.ROOT) + ":" + port(configured));
    return new AddressPolicy(more, hostResolver, allowed, allowsAll);
  }

  /// Returns the target of a URL if a request to it is allowed. All addresses of its host are
  /// checked.
  ///
  /// @throws AddressRejected with the reason
  public CheckedTarget check(String url) throws AddressRejected {
    var uri = parse(url);
    var host = uri.getHost().toLowerCase(Locale.ROOT);
    checkNumbers(host);
    var isNamed = allowsAll || named.contains(host) || named.contains(host + ":" + port(uri));
    var addresses = addresses(host);
    if (!isNamed && !addresses.stream().allMatch(allowed)) {
      throw new AddressRejected(
          "the host is private, or this machine, and is not listed in privateHosts: " + host);
    }
    return new CheckedTarget(uri, addresses.getFirst(), isNamed);
  }

  /// Returns the target of a URL if credentials may be sent to it: over HTTPS, or to this machine.
  ///
  /// @throws AddressRejected with the reason
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

  /// Recognizes addresses of the public internet.
  ///
  /// All other addresses belong to this machine, to its network, to its operator, or are unassigned.
  /// A request that a model sends there could reach services that are not meant to be public. The
  /// ranges are those of IANA's special-purpose registries,
  /// https://www.iana.org/assignments/iana-ipv4-special-registry and `-ipv6-`.
  public static final class PublicAddresses {

    private record Range(InetAddress first, int bits) {
      boolean contains(byte[] address) {
        var start = first.getAddress();
        if (address.length != start.length) {
          return false;
        }
        for (var bit = 0; bit < bits; bit++) {
          var mask = 0x80 >> bit % 8;
          if ((address[bit / 8] & mask) != (start[bit / 8] & mask)) {
            return false;
          }
        }
        return true;
      }
    }

    private static final List<Range> NON_PUBLIC =
        List.of(
            range("0.0.0.0", 8), // this network
            range("10.0.0.0", 8), // private
            range("100.64.0.0", 10), // shared by a carrier's customers
            range("127.0.0.0", 8), // this machine
            range("168.63.129.16", 32), // Azure's wire server: looks public, but is the host's
            range("169.254.0.0", 16), // link-local, with the metadata services of clouds
            range("172.16.0.0", 12), // private
            range("192.0.0.0", 24), // protocols
            range("192.0.2.0", 24), // examples
            range("192.88.99.0", 24), // 6to4 relays
            range("192.168.0.0", 16), // private
            range("198.18.0.0", 15), // benchmarking
            range("198.51.100.0", 24), // examples
            range("203.0.113.0", 24), // examples
            range("224.0.0.0", 4), // multicast
            range("240.0.0.0", 4), // reserved, and broadcast
            range("2001::", 23), // protocols, including Teredo, which contains an IPv4 address
            range("2001:db8::", 32), // examples
            range("2002::", 16), // 6to4, which contains an IPv4 address
            range("3fff::", 20)); // examples

    // All assigned IPv6 addresses. Outside of it are loopback, link-local, unique local and
    // multicast
    // addresses, and those that contain an IPv4 address.
    private static final Range GLOBAL = range("2000::", 3);

    private PublicAddresses() {}

    /// True if the address is public. Java has already converted IPv4-mapped IPv6 addresses, such as
    /// `::ffff:127.0.0.1`, to IPv4.
    public static boolean isPublic(InetAddress address) {
      var bytes = address.getAddress();
      return (bytes.length == 4 || GLOBAL.contains(bytes))
          && NON_PUBLIC.stream().noneMatch(range -> range.contains(bytes));
    }

    private static Range range(String start, int bits) {
      return new Range(InetAddress.ofLiteral(start), bits);
    }
  }
}
