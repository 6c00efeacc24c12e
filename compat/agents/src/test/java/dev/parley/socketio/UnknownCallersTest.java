package dev.parley.socketio;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens;
import dev.parley.http.HttpLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Callers that have not signed in cannot block those that have.
class UnknownCallersTest {

  private static final int FAILURES_MAX = 20;

  private final HttpClient http = HttpClient.newHttpClient();
  private SocketTestServer server =
      new SocketTestServer(token("ann", "good"), token("bob", "other"));

  @AfterEach
  void close() {
    http.shutdownNow();
    server.close();
  }

  private static ApiTokens.ApiToken token(String name, String token) {
    try {
      var hash =
          MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
      return new ApiTokens.ApiToken(name, HexFormat.of().formatHex(hash));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return http.send(request.build(), BodyHandlers.ofString());
  }

  private HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create(server.url() + path));
  }

  private int statusWith(String token) throws Exception {
    return send(to("/openapi.json").header("Authorization", "Bearer " + token)).statusCode();
  }

  private String openPolling() throws Exception {
    var opened = send(to("/socket.io/?EIO=4&transport=polling"));
    assertThat(opened.statusCode()).as(opened.body()).isEqualTo(200);
    return opened.body().replaceFirst(".*\"sid\":\"([^\"]+)\".*", "$1");
  }

  @Test
  void an_address_that_tries_many_tokens_must_wait_but_tokens_in_use_there_go_on()
      throws Exception {
    assertThat(statusWith("good")).isEqualTo(200);
    for (var i = 0; i < FAILURES_MAX; i++) {
      assertThat(statusWith("wrong" + i)).isEqualTo(401);
    }

    assertThat(statusWith("wrong")).isEqualTo(429);
    assertThat(statusWith("other")).isEqualTo(429);
    assertThat(statusWith("good")).isEqualTo(200);
    var login =
        to("/api/login")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"token\":\"guess\"}"));
    assertThat(send(login).body()).contains("too-many-logins");
  }

  @Test
  void requests_without_a_token_are_not_failed_logins() throws Exception {
    for (var i = 0; i < 2 * FAILURES_MAX; i++) {
      assertThat(send(to("/openapi.json")).statusCode()).isEqualTo(401);
    }

    assertThat(statusWith("other")).isEqualTo(200);
  }

  @Test
  void connections_that_never_sign_in_leave_room_for_those_that_do() throws Exception {
    for (var i = 0; i < PendingConnections.ADDRESS_MAX + 20; i++) {
      openPolling();
    }
    assertThat(server.sockets.connections()).isEqualTo(PendingConnections.ADDRESS_MAX);

    var sid = openPolling();
    var path = "/socket.io/?EIO=4&transport=polling&sid=" + sid;
    send(to(path).POST(BodyPublishers.ofString("40{\"token\":\"good\"}")));
    assertThat(send(to(path)).body()).startsWith("40{\"sid\"");
  }

  @Test
  void headers_that_come_byte_by_byte_have_a_deadline() throws Exception {
    server.close();
    server =
        new SocketTestServer(
            0,
            new HttpLimits(1 << 20, 10, Duration.ofMinutes(5), Duration.ofSeconds(1)),
            SocketIoSettings.DEFAULTS);
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.http.port())) {
      socket.setSoTimeout(50);
      var request =
          "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ".getBytes(StandardCharsets.US_ASCII);
      var closed = false;
      // At most 50 seconds; the deadline is one.
      for (var i = 0; i < 1_000 && !closed; i++) {
        closed = closedAfter(socket, i < request.length ? request[i] : 'x');
      }
      assertThat(closed).isTrue();
    }
  }

  /// Sends a byte, waits a moment, and returns whether the server has closed the connection.
  private static boolean closedAfter(Socket socket, int next) {
    try {
      socket.getOutputStream().write(next);
      return socket.getInputStream().read() < 0;
    } catch (SocketTimeoutException open) {
      return false;
    } catch (IOException reset) {
      return true;
    }
  }
}
