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

/// Decides which addresses Parley may send a request to when the address comes from a model, a caller or
/// another server: public addresses, and the hosts that the operator named.
///
/// Addresses in the configuration need no check: the operator chose them.
public final class AddressPolicy {

  private static final int URL_MAX = 8_192;
  private static final Pattern NUMBER = Pattern.compile("\\d+|0[xX][0-9a-fA-F]*");
  private static final Pattern DOTTED =
      Pattern.compile("(?:(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(?:\\.(?!$)|$)){4}");

  /// Finds the addresses of a host.
  public interface Resolver {
    InetAddress[] resolve(String host) throws UnknownHostException;
  }

  /// A place to talk to. `address` was checked; `named` says that its host is one of those named.
  public record Target(URI uri, InetAddress address, boolean named) {

    public String host() {
      return uri.getHost().toLowerCase(Locale.ROOT);
    }

    public boolean secure() {
      return uri.getScheme().equalsIgnoreCase("https");
    }

    public int port() {
      return AddressPolicy.port(uri);
    }

    /// True if it is this machine, by a name that nobody can give another meaning.
    public boolean local() {
      var literal = host().startsWith("[") || DOTTED.matcher(host()).matches();
      return address.isLoopbackAddress() && (literal || host().equals("localhost"));
    }

    /// The host, with its port if that is not the usual one: what a credential is for.
    public String service() {
      return port() == (secure() ? 443 : 80) ? host() : host() + ":" + port();
    }

    public boolean sameOrigin(Target other) {
      return secure() == other.secure() && host().equals(other.host()) && port() == other.port();
    }
  }

  /// Says that a URL is not for tools, in words for the model.
  public static sealed class Refused extends Exception {
    private static final long serialVersionUID = 1L;

    public Refused(String message) {
      super(message);
    }
  }

  /// Says that nobody knows the host, at least now.
  public static final class UnknownHost extends Refused {
    private static final long serialVersionUID = 1L;

    UnknownHost(String host) {
      super("there is no host " + host);
    }
  }

  private final Set<String> named;
  private final Resolver resolver;
  private final Predicate<InetAddress> open;

  /// `named` are hosts, as `host` or `host:port`, that may be private.
  public AddressPolicy(Set<String> named) {
    this(named, InetAddress::getAllByName, Addresses::isPublic);
  }

  public AddressPolicy(Set<String> named, Resolver resolver, Predicate<InetAddress> open) {
    this.named = Set.copyOf(named);
    this.resolver = resolver;
    this.open = open;
  }

  /// A policy that allows every address, for operators who ask for that.
  public static AddressPolicy anywhere() {
    return new AddressPolicy(Set.of(), InetAddress::getAllByName, _ -> true);
  }

  /// The same policy with the host and port of a configured URL among the named hosts.
  public AddressPolicy allowing(URI configured) {
    var more = new HashSet<>(named);
    more.add(configured.getHost().toLowerCase(Locale.ROOT) + ":" + port(configured));
    return new AddressPolicy(more, resolver, open);
  }

  /// The target of a URL, if a request may be sent there: all addresses of its host are checked.
  ///
  /// @throws Refused saying why
  public Target check(String url) throws Refused {
    var uri = parse(url);
    var host = uri.getHost().toLowerCase(Locale.ROOT);
    checkNumbers(host);
    var isNamed = named.contains(host) || named.contains(host + ":" + port(uri));
    var addresses = addresses(host);
    if (!isNamed && !addresses.stream().allMatch(open)) {
      throw new Refused(
          "the host is private, or this machine, and is not listed in privateHosts: " + host);
    }
    return new Target(uri, addresses.getFirst(), isNamed);
  }

  /// The target of a URL that credentials are sent to: over HTTPS, or to this machine.
  ///
  /// @throws Refused saying why
  public Target checkForCredentials(String url) throws Refused {
    var target = check(url);
    if (!target.secure() && !target.address().isLoopbackAddress()) {
      throw new Refused("credentials are sent over https only: " + target.host());
    }
    return target;
  }

  private static int port(URI uri) {
    if (uri.getPort() >= 0) {
      return uri.getPort();
    }
    return "https".equalsIgnoreCase(uri.getScheme()) ? 443 : 80;
  }

  private static URI parse(String url) throws Refused {
    if (url.length() > URL_MAX) {
      throw new Refused("a URL has at most " + URL_MAX + " characters");
    }
    try {
      var uri = new URI(url.strip());
      var scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
      if (!scheme.equals("http") && !scheme.equals("https")) {
        throw new Refused("a URL that begins with http:// or https:// is needed");
      }
      if (uri.getHost() == null || uri.getHost().isEmpty() || uri.getHost().contains("%")) {
        throw new Refused("the URL needs a host: letters, digits, dots and dashes, or an address");
      }
      if (uri.getRawUserInfo() != null) {
        throw new Refused("a URL must not hold a name or a password");
      }
      if (uri.getPort() == 0 || uri.getPort() > 65_535) {
        throw new Refused("a port is between 1 and 65535");
      }
      return uri;
    } catch (URISyntaxException malformed) {
      throw new Refused("this is not a URL: " + malformed.getReason());
    }
  }

  /// Hosts such as `2130706433`, `127.1`, `0x7f.0.0.1` or `0177.0.0.1` mean different things to
  /// different programs, and nothing good to any.
  private static void checkNumbers(String host) throws Refused {
    var bare = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    var last = bare.substring(bare.lastIndexOf('.') + 1);
    if (!host.startsWith("[")
        && NUMBER.matcher(last).matches()
        && !DOTTED.matcher(host).matches()) {
      throw new Refused("an address is written as four numbers from 0 to 255, such as 192.0.2.1");
    }
  }

  private List<InetAddress> addresses(String host) throws Refused {
    try {
      var addresses = Arrays.asList(resolver.resolve(host));
      if (!addresses.isEmpty()) {
        return addresses;
      }
    } catch (UnknownHostException | IllegalArgumentException unknown) {
      // Told below.
    }
    throw new UnknownHost(host);
  }
}
