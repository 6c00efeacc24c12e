package dev.parley.net;

import dev.parley.protocol.Rejection;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.HexFormat;

/// A range of IP addresses: one address, or a network in CIDR notation such as `10.0.0.0/8`.
public record AddressRange(InetAddress network, int prefixBits) {

  private static final int IPV6_NETWORK_BYTES = 8;
  private static final int DOTS = 3;

  public AddressRange {
    if (prefixBits < 0 || prefixBits > network.getAddress().length * Byte.SIZE) {
      throw new Rejection.Invalid(
          "the prefix of a network must be between 0 and "
              + network.getAddress().length * Byte.SIZE
              + " bits");
    }
  }

  /// Parses an address or a network. Host names are not looked up.
  ///
  /// @throws Rejection.Invalid if the text is neither
  public static AddressRange parse(String text) {
    var slash = text.indexOf('/');
    try {
      var address = literal(slash < 0 ? text : text.substring(0, slash));
      var bits =
          slash < 0
              ? address.getAddress().length * Byte.SIZE
              : Integer.parseInt(text.substring(slash + 1));
      return new AddressRange(address, bits);
    } catch (IllegalArgumentException malformed) {
      throw new Rejection.Invalid(
          "must be an IP address or a network such as 10.0.0.0/8, not " + text);
    }
  }

  /// Parses an address. Short forms such as `10.1`, which Java accepts, are not addresses here.
  ///
  /// @throws IllegalArgumentException if the text is no address
  public static InetAddress literal(String text) {
    if (text.indexOf(':') < 0 && text.chars().filter(c -> c == '.').count() != DOTS) {
      throw new IllegalArgumentException("not an address: " + text);
    }
    return InetAddress.ofLiteral(text);
  }

  /// True if the address is in this range.
  public boolean contains(InetAddress address) {
    var own = network.getAddress();
    var other = address.getAddress();
    if (own.length != other.length) {
      return false;
    }
    var bytes = prefixBits / Byte.SIZE;
    if (!Arrays.equals(own, 0, bytes, other, 0, bytes)) {
      return false;
    }
    var rest = prefixBits % Byte.SIZE;
    var mask = 0xff << (Byte.SIZE - rest);
    return rest == 0 || ((own[bytes] ^ other[bytes]) & mask) == 0;
  }

  /// A key for limits per address: the address, or its network for IPv6, where one caller has many
  /// addresses.
  public static String limitKey(InetAddress address) {
    var bytes = address.getAddress();
    return HexFormat.of()
        .formatHex(
            address instanceof Inet6Address && !address.isLoopbackAddress()
                ? Arrays.copyOf(bytes, IPV6_NETWORK_BYTES)
                : bytes);
  }
}
