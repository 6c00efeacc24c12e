package dev.parley.http;

import dev.parley.net.AddressRange;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/// The proxies whose forwarded headers are used. The headers of everybody else are ignored.
///
/// A client can send such headers, too, and proxies append to what they receive. So the headers are
/// read from the right, and the first address that is not a trusted proxy is the client. Only one
/// family of headers is read: a proxy that sets one of them passes the other one on unchanged.
///
/// @param configured false if these are the defaults, which are only believed whether the client
///     used TLS
/// @param standardHeader true for `Forwarded` (RFC 7239) instead of `X-Forwarded-For` and
///     `X-Forwarded-Proto`
public record TrustedProxies(
    List<AddressRange> ranges, boolean configured, boolean standardHeader) {

  /// Proxies on this machine, which may say that a client used TLS. A client that claims this
  /// itself only affects its own replies.
  public static final TrustedProxies LOOPBACK =
      new TrustedProxies(
          List.of(AddressRange.parse("127.0.0.0/8"), AddressRange.parse("::1")), false, false);

  private static final String FOR = "X-Forwarded-For";
  private static final String PROTO = "X-Forwarded-Proto";
  private static final String STANDARD = "Forwarded";
  private static final String HTTPS = "https";

  /// The largest number of proxies that are followed.
  private static final int HOPS_MAX = 32;

  private static final Pattern WITH_PORT =
      Pattern.compile("\\[(?<six>[0-9A-Fa-f:.]+)](?::\\d{1,5})?|(?<four>[0-9.]+)(?::\\d{1,5})?");

  /// A parameter of an element of `Forwarded`.
  private static final Pattern PARAMETER =
      Pattern.compile(
          "\\s*(?<name>[A-Za-z]+)=(?:\"(?<quoted>[^\"\\\\]*)\"|(?<token>[^\",;\\s]+))\\s*");

  public TrustedProxies {
    ranges = List.copyOf(ranges);
  }

  /// What a proxy says about one hop: whom it received the request from, and over which protocol.
  private record Hop(Optional<InetAddress> address, boolean encrypted) {}

  /// True if this address belongs to a trusted proxy.
  boolean contains(InetAddress address) {
    return ranges.stream().anyMatch(range -> range.contains(address));
  }

  /// Where a request comes from.
  ///
  /// @param peer the other side of the connection
  /// @param encrypted true if that connection uses TLS
  /// @param headers returns all values of a header, in the order in which they were sent
  RequestSource source(
      InetAddress peer, boolean encrypted, Function<String, List<String>> headers) {
    if (!contains(peer)) {
      return new RequestSource(peer, encrypted, true);
    }
    var hops = standardHeader ? standardHops(headers) : hops(headers);
    if (!configured) {
      return new RequestSource(peer, encrypted || last(hops), true);
    }
    var address = peer;
    var secure = encrypted || last(hops);
    for (var i = hops.size() - 1; i >= 0 && i >= hops.size() - HOPS_MAX; i--) {
      var hop = hops.get(i);
      if (hop.address().isEmpty()) {
        return new RequestSource(address, secure, false);
      }
      address = hop.address().get();
      secure = encrypted || hop.encrypted();
      if (!contains(address)) {
        return new RequestSource(address, secure, true);
      }
    }
    // The request comes from a trusted proxy itself, or the proxy does not say for whom it is.
    return new RequestSource(address, secure, false);
  }

  private static boolean last(List<Hop> hops) {
    return !hops.isEmpty() && hops.getLast().encrypted();
  }

  /// The hops in `X-Forwarded-For`. The protocol is that of the last proxy.
  private static List<Hop> hops(Function<String, List<String>> headers) {
    var protocols = values(headers.apply(PROTO));
    var encrypted = !protocols.isEmpty() && protocols.getLast().equalsIgnoreCase(HTTPS);
    var hops = new ArrayList<Hop>();
    for (var value : values(headers.apply(FOR))) {
      hops.add(new Hop(address(value), encrypted));
    }
    return hops.isEmpty() && !protocols.isEmpty()
        ? List.of(new Hop(Optional.empty(), encrypted))
        : hops;
  }

  private static List<String> values(List<String> lines) {
    var values = new ArrayList<String>();
    for (var line : lines) {
      for (var value : line.split(",", -1)) {
        if (!value.isBlank()) {
          values.add(value.strip());
        }
      }
    }
    return values;
  }

  /// The hops in `Forwarded`. What cannot be parsed is a hop without an address.
  private static List<Hop> standardHops(Function<String, List<String>> headers) {
    var hops = new ArrayList<Hop>();
    for (var line : headers.apply(STANDARD)) {
      for (var element : elements(line)) {
        hops.add(hop(element));
      }
    }
    return hops;
  }

  /// The elements of a list, in which commas may be quoted.
  private static List<String> elements(String line) {
    var elements = new ArrayList<String>();
    var quoted = false;
    var from = 0;
    for (var i = 0; i < line.length(); i++) {
      var c = line.charAt(i);
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        elements.add(line.substring(from, i));
        from = i + 1;
      }
    }
    elements.add(line.substring(from));
    return elements;
  }

  private static Hop hop(String element) {
    Optional<InetAddress> address = Optional.empty();
    var encrypted = false;
    for (var pair : element.split(";", -1)) {
      var parameter = PARAMETER.matcher(pair);
      if (!parameter.matches()) {
        return new Hop(Optional.empty(), false);
      }
      var quoted = parameter.group("quoted");
      var value = quoted == null ? parameter.group("token") : quoted;
      switch (parameter.group("name").toLowerCase(Locale.ROOT)) {
        case "for" -> address = address(value);
        case "proto" -> encrypted = value.equalsIgnoreCase(HTTPS);
        default -> {
          // The other parameters are not needed.
        }
      }
    }
    return new Hop(address, encrypted);
  }

  /// The address, which may have a port; empty for `unknown` and for invented names.
  private static Optional<InetAddress> address(String text) {
    var parts = WITH_PORT.matcher(text);
    var literal = text;
    if (parts.matches()) {
      var six = parts.group("six");
      literal = six == null ? parts.group("four") : six;
    }
    try {
      return Optional.of(AddressRange.literal(literal));
    } catch (IllegalArgumentException noAddress) {
      return Optional.empty();
    }
  }
}
