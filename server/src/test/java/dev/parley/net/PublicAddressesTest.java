package dev.parley.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.net.AddressPolicy.PublicAddresses;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PublicAddressesTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "100.100.100.200",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.168.1.1",
        "198.19.255.255",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:a9fe:a9fe",
        "::127.0.0.1",
        "64:ff9b::a00:1",
        "100::1",
        "2001:0:1::1",
        "2001:db8::1",
        "2002:7f00:1::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
      })
  void what_is_not_public_is_refused(String address) {
    assertThat(PublicAddresses.isPublic(InetAddress.ofLiteral(address))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.1.1.1",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.1",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2a00:1450:4001:82a::200e",
      })
  void what_is_public_is_not(String address) {
    assertThat(PublicAddresses.isPublic(InetAddress.ofLiteral(address))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://127.1/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://127.0.0.01/",
        "http://127.0.0.1./",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://0/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[fe80::1%25eth0]/",
        "http://169.254.169.254/latest/meta-data",
        "http://localhost/",
        "http://LOCALHOST:80/",
        "http://no.such.host.invalid/",
        "http://user:secret@1.1.1.1/",
        "http://1.1.1.1@127.0.0.1/",
        "http://1.1.1.1:99999/",
        "http://1.1.1.1:0/",
        "ftp://1.1.1.1/",
        "file:///etc/passwd",
        "jar:http://1.1.1.1/!/",
        "//1.1.1.1/",
        "1.1.1.1",
        "",
        "http://",
        "http:///x",
        "http://a b/",
        "http://a_b/",
        "http://bücher.example/",
        "http://\0/",
        "http:1.1.1.1",
      })
  void urls_that_lead_inside_or_nowhere_are_refused(String url) {
    assertThatThrownBy(() -> new AddressPolicy(Set.of()).check(url))
        .isInstanceOf(AddressPolicy.AddressRejected.class)
        .hasMessageMatching(".{10,}");
  }

  @Test
  void one_private_address_among_public_ones_is_enough_to_refuse() {
    AddressPolicy.HostResolver both =
        _ -> new InetAddress[] {InetAddress.ofLiteral("1.1.1.1"), InetAddress.ofLiteral("::1")};

    assertThatThrownBy(
            () ->
                new AddressPolicy(Set.of(), both, PublicAddresses::isPublic)
                    .check("http://mixed.test/"))
        .hasMessageContaining("private");
  }

  @Test
  void the_checked_address_is_kept_and_named_hosts_may_be_private() throws Exception {
    AddressPolicy.HostResolver one = _ -> new InetAddress[] {InetAddress.ofLiteral("1.1.1.1")};
    var checkedTarget =
        new AddressPolicy(Set.of(), one, PublicAddresses::isPublic)
            .check("https://Example.test/a?b");

    assertThat(checkedTarget.address()).isEqualTo(InetAddress.ofLiteral("1.1.1.1"));
    assertThat(checkedTarget.service()).isEqualTo("example.test");
    var named = new AddressPolicy(Set.of("127.0.0.1:8080", "localhost"));
    assertThat(named.check("http://127.0.0.1:8080/").named()).isTrue();
    assertThat(named.check("http://localhost:1234/").service()).isEqualTo("localhost:1234");
    assertThatThrownBy(() -> named.check("http://127.0.0.1:8081/"))
        .isInstanceOf(AddressPolicy.AddressRejected.class);
    assertThatThrownBy(() -> named.check("http://127.0.0.1/"))
        .isInstanceOf(AddressPolicy.AddressRejected.class);
  }

  @Test
  void a_host_that_has_no_address_is_told() {
    AddressPolicy.HostResolver none = _ -> new InetAddress[0];
    AddressPolicy.HostResolver broken =
        host -> {
          throw new UnknownHostException(host);
        };

    for (var hostResolver : new AddressPolicy.HostResolver[] {none, broken}) {
      assertThatThrownBy(
              () ->
                  new AddressPolicy(Set.of(), hostResolver, PublicAddresses::isPublic)
                      .check("http://gone.test/"))
          .hasMessage("unknown host: gone.test");
    }
  }
}
