package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Who may come in: hosts, origins, tokens, owners (CHAT-12, CORE-10).
class AccessControlTest {

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "localhost:7070",
        "127.0.0.1",
        "127.1.2.3:99",
        "[::1]:80",
        "LOCALHOST"
      })
  void names_of_this_machine_are_answered(String host) throws IOException {
    try (var testServer = TestServer.open(folder)) {
      assertThat(ask(testServer, "Host: " + host)).startsWith("HTTP/1.1 200");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example:7070",
        "10.0.0.1",
        "localhost@evil.example"
      })
  void a_name_that_somebody_else_may_own_is_refused(String host) throws IOException {
    try (var testServer = TestServer.open(folder)) {
      assertThat(ask(testServer, "Host: " + host))
          .doesNotStartWith("HTTP/1.1 2")
          .contains("\"code\"");
    }
  }

  @Test
  void a_page_from_elsewhere_is_refused_and_told_nothing() throws IOException {
    try (var testServer = TestServer.open(folder)) {
      for (var origin : new String[] {"http://evil.example", "null", "http://localhost:1"}) {
        var reply = ask(testServer, "Host: localhost", "Origin: " + origin);
        assertThat(reply).startsWith("HTTP/1.1 403").contains("origin-not-allowed");
        assertThat(reply).doesNotContain("Access-Control-Allow-Origin");
      }
    }
  }

  @Test
  void our_own_page_is_answered() throws IOException {
    try (var testServer = TestServer.open(folder)) {
      var reply = ask(testServer, "Host: localhost:7070", "Origin: http://localhost:7070");
      assertThat(reply).startsWith("HTTP/1.1 200").doesNotContain("Access-Control");
    }
  }

  @Test
  void an_origin_that_is_allowed_is_named_exactly() throws IOException {
    var wish = TestServer.Wish.USUAL.origins("https://good.example");
    try (var testServer = TestServer.open(folder, wish)) {
      var reply =
          ask(
              testServer,
              "Host: localhost",
              "Origin: https://good.example",
              "Sec-Fetch-Site: cross-site");
      assertThat(reply)
          .startsWith("HTTP/1.1 200")
          .contains("Access-Control-Allow-Origin: https://good.example\r\n");
    }
  }

  @Test
  void cross_site_requests_are_refused_but_for_opening_the_page() throws IOException {
    try (var testServer = TestServer.open(folder)) {
      var cross = "Sec-Fetch-Site: cross-site";
      assertThat(ask(testServer, "Host: localhost", cross, "Sec-Fetch-Mode: no-cors"))
          .startsWith("HTTP/1.1 403");
      assertThat(
              testServer.raw(
                  "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                      + cross
                      + "\r\nSec-Fetch-Mode: navigate\r\n\r\n"))
          .startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void with_tokens_everything_but_health_needs_one() {
    var wish = TestServer.Wish.USUAL.tokens(token("ann", "secret-a"), token("bob", "secret-b"));
    try (var testServer = TestServer.open(folder, wish)) {
      testServer.context("c");
      var path = "/api/contexts/c/events";

      var refused = testServer.get(path);
      assertThat(refused.statusCode()).isEqualTo(401);
      assertThat(refused.headers().firstValue("WWW-Authenticate"))
          .hasValueSatisfying(header -> assertThat(header).startsWith("Bearer"));
      assertThat(testServer.get(path, "Authorization", "Bearer wrong").statusCode()).isEqualTo(401);
      assertThat(testServer.get(path, "Authorization", "Bearer secret-a").statusCode())
          .isEqualTo(200);
      assertThat(testServer.get(path, "Cookie", "x=1; parley_token=secret-b").statusCode())
          .isEqualTo(200);
      assertThat(testServer.get("/healthz").statusCode()).isEqualTo(200);
      assertThat(testServer.get("/readyz").statusCode()).isEqualTo(200);
      assertThat(testServer.get("/health").statusCode()).isEqualTo(200);
      assertThat(testServer.get("/health", "Authorization", "Bearer wrong").statusCode())
          .isEqualTo(200);
      assertThat(testServer.get("/metrics").statusCode()).isEqualTo(401);
    }
  }

  @Test
  void a_context_of_somebody_else_looks_like_one_that_does_not_exist() {
    var wish = TestServer.Wish.USUAL.tokens(token("ann", "secret-a"), token("bob", "secret-b"));
    try (var testServer = TestServer.open(folder, wish)) {
      testServer.log.create(new ContextId("hers"), new ContextCreated("ann", null, null));
      testServer.log.create(new ContextId("old"), new ContextCreated("local", null, null));
      var bob = new String[] {"Authorization", "Bearer secret-b"};

      var hidden = testServer.get("/api/contexts/hers/events", bob);
      var missing = testServer.get("/api/contexts/none/events", bob);

      assertThat(hidden.statusCode()).isEqualTo(404);
      assertThat(hidden.body().replace("hers", "none")).isEqualTo(missing.body());
      assertThat(testServer.get("/api/contexts/old/events", bob).statusCode()).isEqualTo(200);
      assertThat(
              testServer
                  .get("/api/contexts/hers/events", "Authorization", "Bearer secret-a")
                  .statusCode())
          .isEqualTo(200);
    }
  }

  @Test
  void logging_in_sets_a_cookie_that_scripts_and_other_sites_cannot_use() {
    try (var testServer =
        TestServer.open(folder, TestServer.Wish.USUAL.tokens(token("ann", "secret-a")))) {
      var in = testServer.post("/api/login", "{\"token\":\"secret-a\"}");
      assertThat(in.statusCode()).isEqualTo(200);
      assertThat(in.headers().firstValue("Set-Cookie").orElseThrow())
          .isEqualTo("parley_token=secret-a; Path=/; HttpOnly; SameSite=Strict");
      assertThat(testServer.post("/api/login", "{\"token\":\"no\"}").statusCode()).isEqualTo(401);
      var out = testServer.post("/api/logout", "", "Authorization", "Bearer secret-a");
      assertThat(out.headers().firstValue("Set-Cookie").orElseThrow()).contains("Max-Age=0");
    }
  }

  @Test
  void another_address_without_auth_is_refused_unless_one_insists() {
    var config = TestServer.config(folder).listeningOn("0.0.0.0", 0).keepingDataIn(folder);

    assertThatThrownBy(() -> Server.start(config, TestServer.MODULES))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining("auth.tokens");
    try (var server = Server.start(config.madeInsecure(), TestServer.MODULES)) {
      assertThat(server.url()).startsWith("http://0.0.0.0:");
    }
  }

  private static String ask(TestServer testServer, String... headers) throws IOException {
    return testServer.raw(
        "GET /healthz HTTP/1.1\r\nConnection: close\r\n"
            + String.join("\r\n", headers)
            + "\r\n\r\n");
  }

  private static ApiToken token(String name, String secret) {
    try {
      var hash =
          MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8));
      return new ApiToken(name, HexFormat.of().formatHex(hash));
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
