package dev.parley.socketio;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.HttpLimits;
import dev.parley.http.WebSocketTestClient;
import dev.parley.protocol.Json;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Engine.IO on the wire, also with clients that violate the protocol.
class EngineIoServerTest {

  private static final String PATH = "/socket.io/?EIO=4&transport=polling";
  private static final SocketIoSettings QUICK =
      new SocketIoSettings(
          Duration.ofSeconds(1),
          Duration.ofSeconds(2),
          Duration.ofSeconds(20),
          Duration.ofSeconds(2),
          64 * 1024);

  private final HttpClient http = HttpClient.newHttpClient();
  private SocketTestServer server = new SocketTestServer();

  @AfterEach
  void close() {
    http.close();
    server.close();
  }

  @Test
  void a_handshake_says_what_the_protocol_wants_said() throws Exception {
    var reply = get(PATH + "&t=abc");
    assertThat(reply.statusCode()).isEqualTo(200);
    assertThat(reply.headers().firstValue("Content-Type")).hasValue("text/plain; charset=UTF-8");
    var open = Json.mapper().readTree(reply.body().substring(1));
    assertThat(reply.body()).startsWith("0{");
    assertThat(open.path("sid").asString()).hasSize(22);
    assertThat(open.path("upgrades").toString()).isEqualTo("[\"websocket\"]");
    assertThat(open.path("pingInterval").asInt()).isEqualTo(25_000);
    assertThat(open.path("pingTimeout").asInt()).isEqualTo(20_000);
    assertThat(open.path("maxPayload").asInt()).isEqualTo(1_000_000);
  }

  @ParameterizedTest
  @CsvSource({
    "GET,/socket.io/,0",
    "GET,/socket.io/?EIO=4,0",
    "GET,/socket.io/?EIO=4&transport=abc,0",
    "GET,/socket.io/?EIO=4&transport=flashsocket%00,0",
    "GET,/socket.io/?transport=polling,5",
    "GET,/socket.io/?EIO=3&transport=polling,5",
    "GET,/socket.io/?EIO=abc&transport=polling,5",
    "GET,/socket.io/?EIO=4&transport=polling&sid=none,1",
    "POST,/socket.io/?EIO=4&transport=polling&sid=none,1",
    "GET,/socket.io/?EIO=4&transport=websocket&sid=none,1",
    "POST,/socket.io/?EIO=4&transport=polling,2"
  })
  void garbage_in_a_handshake_is_answered_by_number(String method, String path, int code)
      throws Exception {
    var reply = send(request(path).method(method, BodyPublishers.ofString("4x")));
    assertThat(reply.statusCode()).isEqualTo(400);
    var json = Json.mapper().readTree(reply.body());
    assertThat(json.path("code").asInt(-1)).isEqualTo(code);
    assertThat(json.path("message").asString()).isNotBlank();
  }

  @Test
  void several_packets_come_and_go_in_one_body() throws Exception {
    var sid = open();
    assertThat(post(sid, "40\u001e42[\"echo\",1]\u001e421[\"echo\",\"ä\"]").body()).isEqualTo("ok");
    var all = new StringBuilder();
    while (!all.toString().contains("431")) {
      all.append(get(PATH + "&sid=" + sid).body()).append('\u001e');
    }
    assertThat(all.toString().split("\u001e"))
        .satisfies(
            packets -> {
              assertThat(packets[0]).startsWith("40{\"sid\":");
              assertThat(packets[1]).startsWith("42[\"connected\",");
              assertThat(packets)
                  .containsSubsequence("42[\"echoed\",1]", "42[\"echoed\",\"ä\"]", "431[\"ä\"]");
            });
  }

  @ParameterizedTest
  @CsvSource({"abc", "4a\u001e", "2", "bAQID", "42[\"early\"]", "47", "4", "40\u001e40", "42"})
  void a_body_that_makes_no_sense_ends_the_connection(String body) throws Exception {
    var sid = open();
    assertThat(post(sid, body).statusCode()).isIn(200, 400);
    var reply = get(PATH + "&sid=" + sid);
    while (reply.statusCode() == 200) {
      reply = get(PATH + "&sid=" + sid);
    }
    assertThat(reply.statusCode()).isEqualTo(400);
    assertThat(reply.body()).contains("\"code\":1");
  }

  @Test
  void two_requests_that_wait_at_once_end_the_connection() throws Exception {
    var sid = open();
    var one = http.sendAsync(request(PATH + "&sid=" + sid).build(), BodyHandlers.ofString());
    var two = http.sendAsync(request(PATH + "&sid=" + sid).build(), BodyHandlers.ofString());
    assertThat(one.get(20, TimeUnit.SECONDS).statusCode() + two.get().statusCode())
        .isEqualTo(200 + 400);
    assertThat(List.of(one.get().body(), two.get().body()))
        .contains("1")
        .anyMatch(body -> body.contains("already waiting"));
    assertThat(server.sockets.connections()).isZero();
  }

  @Test
  void a_body_that_is_too_large_ends_the_connection() throws Exception {
    var sid = open();
    assertThat(post(sid, "4" + "x".repeat(2 << 20)).statusCode()).isEqualTo(413);
    assertThat(get(PATH + "&sid=" + sid).statusCode()).isEqualTo(400);
  }

  @Test
  void the_move_to_a_websocket_loses_nothing_and_lets_the_request_go_that_waits() throws Exception {
    var sid = open();
    post(sid, "40");
    while (!get(PATH + "&sid=" + sid).body().contains("connected")) {
      // The first packets after connecting may arrive in two bodies.
    }
    var waiting = http.sendAsync(request(PATH + "&sid=" + sid).build(), BodyHandlers.ofString());
    try (var socket =
        new WebSocketTestClient(
            server.http.port(), "/socket.io/?EIO=4&transport=websocket&sid=" + sid)) {
      socket.send("2probe");
      assertThat(socket.next()).isEqualTo("3probe");
      assertThat(waiting.get(20, TimeUnit.SECONDS).body()).isEqualTo("6");
      // No poll waits now, and the upgrade is not complete.
      server.host.peers.values().iterator().next().emit("between", Json.object());
      assertThat(
              WebSocketTestClient.refusal(
                  server.http.port(), "/socket.io/?EIO=4&transport=websocket&sid=none", Map.of()))
          .isEqualTo(400);
      socket.send("5");
      assertThat(said(socket)).isEqualTo("42[\"between\",{}]");
      socket.send("421[\"echo\",7]");
      assertThat(socket.next()).isEqualTo("42[\"echoed\",7]");
      assertThat(socket.next()).isEqualTo("431[7]");
      assertThat(get(PATH + "&sid=" + sid).statusCode()).isEqualTo(400);
      socket.send("1");
      assertThat(socket.closed()).startsWith("1000");
      assertThat(server.host.ended.poll(20, TimeUnit.SECONDS)).isNotNull();
    }
  }

  @Test
  void a_websocket_that_does_not_go_through_with_it_changes_nothing() throws Exception {
    server.close();
    server =
        new SocketTestServer(
            0,
            HttpLimits.DEFAULTS,
            new SocketIoSettings(
                Duration.ofSeconds(20),
                Duration.ofSeconds(20),
                Duration.ofSeconds(20),
                Duration.ofMillis(100),
                1000));
    var sid = open();
    try (var socket =
        new WebSocketTestClient(
            server.http.port(), "/socket.io/?EIO=4&transport=websocket&sid=" + sid)) {
      server.time.advanceToWait("socket-io-heartbeat", Duration.ofMillis(100));
      assertThat(socket.closed()).isEqualTo("1002 the upgrade took too long");
    }
    post(sid, "40");
    var body = get(PATH + "&sid=" + sid).body();
    while (body.equals("6")) {
      // The server may not have dropped the WebSocket yet.
      body = get(PATH + "&sid=" + sid).body();
    }
    assertThat(body).contains("40{\"sid\"");
  }

  /// The next packet with content: a noop, which ends a poll, may come first.
  private static String said(WebSocketTestClient socket) throws Exception {
    var next = socket.next();
    return next.equals("6") ? said(socket) : next;
  }

  @Test
  void pings_come_and_who_answers_stays() throws Exception {
    server.close();
    server =
        new SocketTestServer(
            0,
            HttpLimits.DEFAULTS,
            new SocketIoSettings(
                Duration.ofMillis(100),
                Duration.ofSeconds(20),
                Duration.ofSeconds(20),
                Duration.ofSeconds(20),
                1000));
    try (var socket =
        new WebSocketTestClient(server.http.port(), "/socket.io/?EIO=4&transport=websocket")) {
      assertThat(socket.next()).startsWith("0{").contains("\"upgrades\":[]");
      for (var i = 0; i < 3; i++) {
        server.time.advanceToWait("socket-io-heartbeat", Duration.ofMillis(100));
        assertThat(socket.next()).isEqualTo("2");
        socket.send("3");
      }
    }
  }

  @Test
  void who_answers_no_ping_is_gone() throws Exception {
    server.close();
    server = new SocketTestServer(0, HttpLimits.DEFAULTS, QUICK);
    try (var socket =
        new WebSocketTestClient(server.http.port(), "/socket.io/?EIO=4&transport=websocket")) {
      assertThat(socket.next()).startsWith("0{");
      socket.send("40");
      assertThat(socket.next()).startsWith("40{");
      assertThat(socket.next()).startsWith("42[\"connected\"");
      server.time.advanceToWait("socket-io-heartbeat");
      assertThat(socket.next()).isEqualTo("2");
      server.time.advanceToWait("socket-io-heartbeat");
      assertThat(socket.closed()).isEqualTo("1008 no pong arrived in time");
      assertThat(server.host.ended.poll(20, TimeUnit.SECONDS)).isNotNull();
    }
  }

  @Test
  void who_does_not_come_for_packets_is_gone() throws Exception {
    server.close();
    server = new SocketTestServer(0, HttpLimits.DEFAULTS, QUICK);
    var sid = open();
    post(sid, "40");
    while (!get(PATH + "&sid=" + sid).body().contains("connected")) {
      // The session exists once it has sent this.
    }
    while (server.sockets.connections() > 0) {
      server.time.advance(Duration.ofSeconds(1));
      Thread.onSpinWait();
    }
    assertThat(server.host.ended.poll(20, TimeUnit.SECONDS)).isNotNull();
  }

  @Test
  void who_does_not_connect_is_gone() throws Exception {
    server.close();
    server =
        new SocketTestServer(
            0,
            HttpLimits.DEFAULTS,
            new SocketIoSettings(
                Duration.ofSeconds(20),
                Duration.ofSeconds(20),
                Duration.ofMillis(100),
                Duration.ofSeconds(20),
                1000));
    try (var socket =
        new WebSocketTestClient(server.http.port(), "/socket.io/?EIO=4&transport=websocket")) {
      server.time.advanceToWait("socket-io-heartbeat");
      assertThat(socket.closed()).isEqualTo("1008 the client did not connect in time");
    }
  }

  @Test
  void there_are_no_more_connections_than_streams_may_be() throws Exception {
    server.close();
    server =
        new SocketTestServer(
            0,
            new HttpLimits(1 << 20, 2, Duration.ofSeconds(60), Duration.ofSeconds(60)),
            SocketIoSettings.DEFAULTS);
    open();
    open();
    assertThat(get(PATH).statusCode()).isEqualTo(429);
    assertThat(server.sockets.connections()).isEqualTo(2);
  }

  @Test
  void pages_from_elsewhere_come_if_they_may() throws Exception {
    var good = send(request(PATH).header("Origin", "https://good.example"));
    assertThat(good.headers().firstValue("Access-Control-Allow-Origin"))
        .hasValue("https://good.example");
    var evil = send(request(PATH).header("Origin", "https://evil.example"));
    assertThat(evil.statusCode()).isEqualTo(403);
  }

  private String open() throws Exception {
    return Json.mapper().readTree(get(PATH).body().substring(1)).path("sid").asString();
  }

  private HttpResponse<String> get(String path) throws Exception {
    return send(request(path));
  }

  private HttpResponse<String> post(String sid, String body) throws Exception {
    return send(
        request(PATH + "&sid=" + sid)
            .header("Content-Type", "text/plain;charset=UTF-8")
            .POST(BodyPublishers.ofString(body)));
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(server.url() + path));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return http.send(request.build(), BodyHandlers.ofString());
  }
}
