package dev.parley.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.net.AddressRange;
import dev.parley.protocol.Rejection;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Which address and protocol a request has, depending on who says so.
class TrustedProxiesTest {

  private static final InetAddress PROXY = InetAddress.ofLiteral("10.0.0.1");
  private static final InetAddress OUTSIDE = InetAddress.ofLiteral("203.0.113.9");
  private static final TrustedProxies X_FORWARDED = proxies(false);
  private static final TrustedProxies FORWARDED = proxies(true);

  private static TrustedProxies proxies(boolean standard) {
    var ranges = Stream.of("10.0.0.0/8", "fd00::/8").map(AddressRange::parse).toList();
    return new TrustedProxies(ranges, true, standard);
  }

  private static RequestSource source(
      TrustedProxies proxies, InetAddress peer, Map<String, List<String>> headers) {
    return proxies.source(peer, false, name -> headers.getOrDefault(name, List.of()));
  }

  private static RequestSource of(String address, boolean encrypted, boolean known) {
    return new RequestSource(InetAddress.ofLiteral(address), encrypted, known);
  }

  @Test
  void headers_of_others_are_ignored() {
    var claims =
        Map.of(
            "X-Forwarded-For", List.of("198.51.100.1"),
            "X-Forwarded-Proto", List.of("https"),
            "Forwarded", List.of("for=198.51.100.1;proto=https"));
    assertThat(source(X_FORWARDED, OUTSIDE, claims)).isEqualTo(of("203.0.113.9", false, true));
    assertThat(source(FORWARDED, OUTSIDE, claims)).isEqualTo(of("203.0.113.9", false, true));
    assertThat(source(TrustedProxies.LOOPBACK, OUTSIDE, claims))
        .isEqualTo(of("203.0.113.9", false, true));
  }

  @Test
  void without_configuration_a_proxy_on_this_machine_only_says_whether_tls_was_used() {
    var claims =
        Map.of("X-Forwarded-For", List.of("198.51.100.1"), "X-Forwarded-Proto", List.of("https"));
    assertThat(source(TrustedProxies.LOOPBACK, InetAddress.ofLiteral("127.0.0.1"), claims))
        .isEqualTo(of("127.0.0.1", true, true));
    assertThat(source(TrustedProxies.LOOPBACK, InetAddress.ofLiteral("::1"), claims))
        .isEqualTo(of("::1", true, true));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // What a client claims is to the left of what the proxy has seen.
        "198.51.100.7                          | 198.51.100.7 | true",
        "1.1.1.1, 198.51.100.7                 | 198.51.100.7 | true",
        "127.0.0.1, 198.51.100.7               | 198.51.100.7 | true",
        "198.51.100.7, 10.3.2.1                | 198.51.100.7 | true",
        "1.1.1.1, 198.51.100.7, 10.3.2.1       | 198.51.100.7 | true",
        "198.51.100.7:4711                     | 198.51.100.7 | true",
        "[2001:db8::1]:4711                    | 2001:db8::1  | true",
        "2001:db8::1                           | 2001:db8::1  | true",
        "fd00::1, fd00::2                      | fd00::1      | false",
        "1.1.1.1, unknown                      | 10.0.0.1     | false",
        "1.1.1.1, example.org                  | 10.0.0.1     | false",
        "1.1.1.1, 10.9.9.9, 0x7f.1             | 10.0.0.1     | false",
        "' , '                                 | 10.0.0.1     | false"
      })
  void the_client_is_the_last_address_that_is_no_proxy(
      String header, String address, boolean known) {
    var headers = Map.of("X-Forwarded-For", List.of(header), "X-Forwarded-Proto", List.of("https"));
    assertThat(source(X_FORWARDED, PROXY, headers)).isEqualTo(of(address, true, known));
  }

  @Test
  void several_lines_are_one_list() {
    var headers =
        Map.of(
            "X-Forwarded-For", List.of("1.1.1.1", "198.51.100.7, 10.1.1.1"),
            "X-Forwarded-Proto", List.of("https", "http"));
    assertThat(source(X_FORWARDED, PROXY, headers)).isEqualTo(of("198.51.100.7", false, true));
  }

  @Test
  void a_family_of_headers_that_is_not_configured_is_ignored() {
    var both =
        Map.of(
            "X-Forwarded-For", List.of("198.51.100.7"),
            "X-Forwarded-Proto", List.of("https"),
            "Forwarded", List.of("for=1.1.1.1;proto=http"));
    assertThat(source(X_FORWARDED, PROXY, both)).isEqualTo(of("198.51.100.7", true, true));
    assertThat(source(FORWARDED, PROXY, both)).isEqualTo(of("1.1.1.1", false, true));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "for=198.51.100.7;proto=https                                   | 198.51.100.7 | true  | true",
        "For=\"198.51.100.7:4711\"; Proto=HTTPS                         | 198.51.100.7 | true  | true",
        "for=\"[2001:db8::1]:4711\";by=10.0.0.1                         | 2001:db8::1  | false | true",
        "for=1.1.1.1;proto=https, for=198.51.100.7;proto=http           | 198.51.100.7 | false | true",
        "for=198.51.100.7;proto=https, for=10.2.2.2;proto=http          | 198.51.100.7 | true  | true",
        "for=1.1.1.1, for=_hidden;proto=https                           | 10.0.0.1     | true  | false",
        "for=1.1.1.1, for=\"a,b;c\"                                     | 10.0.0.1     | false | false",
        "for=1.1.1.1;proto=https, for=\"                                | 10.0.0.1     | false | false"
      })
  void the_standard_header_says_it_for_each_hop(
      String header, String address, boolean encrypted, boolean known) {
    assertThat(source(FORWARDED, PROXY, Map.of("Forwarded", List.of(header))))
        .isEqualTo(of(address, encrypted, known));
  }

  @Test
  void ranges_are_compared_bit_by_bit() {
    var range = AddressRange.parse("10.64.0.0/10");
    assertThat(range.contains(InetAddress.ofLiteral("10.127.255.255"))).isTrue();
    assertThat(range.contains(InetAddress.ofLiteral("10.128.0.0"))).isFalse();
    assertThat(range.contains(InetAddress.ofLiteral("::"))).isFalse();
    assertThat(AddressRange.parse("0.0.0.0/0").contains(OUTSIDE)).isTrue();
    assertThat(AddressRange.parse("203.0.113.9").contains(OUTSIDE)).isTrue();
    assertThat(AddressRange.parse("203.0.113.8/31").contains(OUTSIDE)).isTrue();
    for (var wrong :
        List.of("10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "proxy", "", "::/129", "1/x")) {
      assertThatThrownBy(() -> AddressRange.parse(wrong)).isInstanceOf(Rejection.Invalid.class);
    }
  }
}
