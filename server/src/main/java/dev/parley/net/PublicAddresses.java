package dev.parley.net;

import java.net.InetAddress;
import java.util.List;

/// Recognizes addresses of the public internet.
///
/// All other addresses belong to this machine, to its network, to its operator, or are unassigned.
/// A request that a model sends there could reach services that are not meant to be public. The
/// ranges are those of IANA's special-purpose registries,
/// https://www.iana.org/assignments/iana-ipv4-special-registry and `-ipv6-`.
public final class PublicAddresses {

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

  // All assigned IPv6 addresses. Outside of it are loopback, link-local, unique local and multicast
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
