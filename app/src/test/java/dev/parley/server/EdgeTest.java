package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A server behind a proxy, as its configuration describes it.
class EdgeTest {

  private static final int FAILURES_MAX = 20;
  private static final String AUTH =
      "auth: {tokens: [{name: me, sha256:"
          + " \"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\"}]}\n";

  @TempDir Path folder;
  private static TestServer behindProxy;

  @BeforeAll
  static void open(@TempDir Path shared) throws IOException {
    behindProxy = TestServer.configured(shared, AUTH + "trustedProxies: [127.0.0.0/8]\n");
  }

  @AfterAll
  static void close() {
    behindProxy.close();
  }

  private static int get(TestServer server, String client, String token) {
    return server
        .get("/api/contexts", "X-Forwarded-For", client, "Authorization", "Bearer " + token)
        .statusCode();
  }

  @Test
  void wrong_tokens_lock_out_the_client_that_sends_them_and_not_the_proxy() {
    for (var i = 0; i < FAILURES_MAX; i++) {
      assertThat(get(behindProxy, "192.0.2." + i + ", 198.51.100.1", "wrong")).isEqualTo(401);
    }
    assertThat(get(behindProxy, "198.51.100.1", "secret")).isEqualTo(429);
    assertThat(get(behindProxy, "198.51.100.2", "secret")).isEqualTo(200);
  }

  @Test
  void a_login_over_tls_sets_a_secure_cookie_if_the_proxy_says_so() {
    var body = "{\"token\":\"secret\"}";
    assertThat(
            behindProxy
                .post("/api/login", body, "X-Forwarded-Proto", "https")
                .headers()
                .firstValue("Set-Cookie")
                .orElseThrow())
        .endsWith("; Secure");
    assertThat(
            behindProxy
                .post("/api/login", body, "X-Forwarded-Proto", "http")
                .headers()
                .firstValue("Set-Cookie")
                .orElseThrow())
        .doesNotContain("Secure");
  }

  @Test
  void who_is_no_trusted_proxy_cannot_claim_tls_or_another_address() throws IOException {
    try (var server =
        TestServer.configured(
            folder, AUTH + "trustedProxies: [10.0.0.1]\nproxyHeader: forwarded")) {
      var in =
          server.post(
              "/api/login",
              "{\"token\":\"secret\"}",
              "X-Forwarded-Proto",
              "https",
              "Forwarded",
              "for=192.0.2.1;proto=https");
      assertThat(in.headers().firstValue("Set-Cookie").orElseThrow()).doesNotContain("Secure");
      for (var i = 0; i < FAILURES_MAX; i++) {
        assertThat(get(server, "192.0.2." + i, "wrong")).isEqualTo(401);
      }
      assertThat(get(server, "192.0.2.99", "wrong")).isEqualTo(429);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "trustedProxies: [proxy]         | trustedProxies[0]: must be an IP address or a network",
        "trustedProxies: [10.0.0.0/40]   | trustedProxies[0]: the prefix of a network must be between 0 and 32 bits",
        "proxyHeader: x-real-ip          | proxyHeader",
        "proxyHeader: forwarded          | needs trustedProxies",
        "tls: {certificate: none.pem}    | tls: needs certificate and key",
        "tls: {certificate: a, key: b}   | cannot be read",
        "limits: {connectionsPerAddress: 0} | must be at least 1"
      })
  void errors_in_the_configuration_are_explained(String yaml, String message) throws IOException {
    var file = Files.writeString(folder.resolve("wrong.yaml"), yaml);
    var environment = new Config.ProcessEnvironment(Map.of(), folder, folder);

    assertThatThrownBy(() -> Config.load(file, environment))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining(message);
  }
}
