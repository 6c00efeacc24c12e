package dev.parley.socketio;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens;
import dev.parley.http.HttpLimits;
import dev.parley.runtime.ManualTime;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// Socket.IO with an unmodified client: AGENT-64, CORE-24.
class SocketIoTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"transports\":[\"websocket\"]}",
        "{\"transports\":[\"polling\"]}",
        "{\"transports\":[\"websocket\",\"polling\"]}"
      })
  void both_sides_say_and_ask_in_order_until_one_leaves(String options) throws Exception {
    try (var api = new SocketTestServer();
        var peer = new NodeTestClient("socket-io.mjs", api.url(), options)) {
      peer.send("{\"do\":\"connect\",\"name\":\"a\"}");
      var upgrades = options.equals("{}");
      var facts =
          upgrades
              ? peer.all("begin", "connect", "event", "upgrade")
              : peer.all("connect", "event");
      var connected = facts.get("connect");
      var first = facts.get("event");
      assertThat(first.path("event").asString()).isEqualTo("connected");
      assertThat(first.at("/args/0/clientId")).isEqualTo(connected.path("id"));
      assertThat(first.at("/args/0/who").asString()).isEqualTo("local");
      if (upgrades) {
        assertThat(facts.get("begin").path("transport").asString()).isEqualTo("polling");
        assertThat(facts.get("upgrade").path("transport").asString()).isEqualTo("websocket");
      }

      peer.send(
          "{\"do\":\"emit\",\"name\":\"a\",\"event\":\"echo\",\"args\":[{\"t\":\"ä€😀\\u001e\"}]}");
      assertThat(event(peer, "echoed").at("/args/0/t").asString()).isEqualTo("ä€😀\u001e");
      peer.send("{\"do\":\"ask\",\"name\":\"a\",\"event\":\"echo\",\"args\":[[1,\"two\",null]]}");
      assertThat(peer.next("ack").at("/answer/0").toString()).isEqualTo("[1,\"two\",null]");
      peer.send("{\"do\":\"ask\",\"name\":\"a\",\"event\":\"silence\"}");
      assertThat(peer.next("ack").path("answer").toString()).isEqualTo("[null]");
      peer.send("{\"do\":\"ask\",\"name\":\"a\",\"event\":\"refuse\"}");
      assertThat(event(peer, "error").at("/args/0").toString())
          .isEqualTo("{\"event\":\"refuse\",\"code\":\"nope\",\"message\":\"this cannot be\"}");
      assertThat(peer.next("ack").at("/answer/0/error/code").asString()).isEqualTo("nope");
      peer.send("{\"do\":\"emit\",\"name\":\"a\",\"event\":\"count\",\"args\":[2000]}");
      for (var i = 1; i <= 2_000; i++) {
        assertThat(event(peer, "number").at("/args/0").asInt()).isEqualTo(i);
      }

      peer.send("{\"do\":\"disconnect\",\"name\":\"a\"}");
      assertThat(peer.next("disconnect").path("reason").asString())
          .isEqualTo("io client disconnect");
      assertThat(api.host.ended.poll(20, TimeUnit.SECONDS))
          .isEqualTo(connected.path("id").asString());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"transports\":[\"polling\"]}"})
  void it_comes_back_when_the_server_does(String options) throws Exception {
    var api = new SocketTestServer();
    try (var peer =
        new NodeTestClient(
            "socket-io.mjs",
            api.url(),
            options.equals("{}")
                ? "{\"reconnectionDelay\":50,\"reconnectionDelayMax\":100}"
                : "{\"reconnectionDelay\":50,\"transports\":[\"polling\"]}")) {
      peer.send("{\"do\":\"connect\",\"name\":\"a\"}");
      var facts = options.equals("{}") ? peer.all("connect", "upgrade") : peer.all("connect");
      var before = facts.get("connect").path("id").asString();
      var port = api.http.port();
      api.http.drain(Duration.ofSeconds(5));
      api.close();
      assertThat(peer.next("disconnect").path("reason").asString())
          .isIn("transport close", "transport error");
      assertThat(api.host.ended.poll(20, TimeUnit.SECONDS)).isEqualTo(before);

      try (var again = new SocketTestServer(port, HttpLimits.DEFAULTS, SocketIoSettings.DEFAULTS)) {
        assertThat(peer.next("connect").path("id").asString()).isNotEqualTo(before);
        peer.send("{\"do\":\"ask\",\"name\":\"a\",\"event\":\"echo\",\"args\":[1]}");
        assertThat(peer.next("ack").at("/answer/0").asInt()).isEqualTo(1);
        assertThat(again.sockets.connections()).isEqualTo(1);
      }
    }
  }

  @Test
  void other_namespaces_are_refused() throws Exception {
    try (var api = new SocketTestServer();
        var peer = new NodeTestClient("socket-io.mjs", api.url())) {
      peer.send("{\"do\":\"connect\",\"name\":\"a\",\"namespace\":\"/admin\"}");
      assertThat(peer.next("connect_error").path("message").asString())
          .isEqualTo("Invalid namespace");
    }
  }

  @Test
  void a_token_is_shown_in_auth_or_in_a_header() throws Exception {
    try (var api = new SocketTestServer(token("ann"), token("bob"));
        var peer = new NodeTestClient("socket-io.mjs", api.url())) {
      peer.send("{\"do\":\"connect\",\"name\":\"nobody\"}");
      var refused = peer.next("connect_error");
      assertThat(refused.at("/data/code").asString()).isEqualTo("unauthorized");
      peer.send(
          "{\"do\":\"connect\",\"name\":\"wrong\",\"options\":{\"auth\":{\"token\":\"guess\"}}}");
      assertThat(peer.next("connect_error").at("/data/code").asString()).isEqualTo("unauthorized");
      peer.send(
          "{\"do\":\"connect\",\"name\":\"ann\",\"options\":{\"auth\":{\"token\":\"secret-ann\"}}}");
      assertThat(event(peer, "connected").at("/args/0/who").asString()).isEqualTo("ann");
      peer.send(
          "{\"do\":\"connect\",\"name\":\"bob\",\"options\":"
              + "{\"extraHeaders\":{\"Authorization\":\"Bearer secret-bob\"}}}");
      assertThat(event(peer, "connected").at("/args/0/who").asString()).isEqualTo("bob");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"websocket", "polling"})
  void bytes_are_refused(String transport) throws Exception {
    try (var api = new SocketTestServer();
        var peer =
            new NodeTestClient(
                "socket-io.mjs", api.url(), "{\"transports\":[\"" + transport + "\"]}")) {
      peer.send("{\"do\":\"connect\",\"name\":\"a\"}");
      peer.next("connect");
      peer.send("{\"do\":\"binary\",\"name\":\"a\",\"event\":\"echo\"}");
      assertThat(peer.next("disconnect").path("reason").asString()).isNotEmpty();
    }
  }

  @Test
  void a_peer_that_stops_reading_costs_little_and_only_itself() throws Exception {
    var httpLimits = new HttpLimits(1 << 20, 100, Duration.ofSeconds(3), Duration.ofSeconds(30));
    try (var api = new SocketTestServer(0, httpLimits, SocketIoSettings.DEFAULTS);
        var peer =
            new NodeTestClient("socket-io.mjs", api.url(), "{\"transports\":[\"websocket\"]}")) {
      peer.send("{\"do\":\"connect\",\"name\":\"sleepy\"}");
      var sleepy = peer.next("connect").path("id").asString();
      peer.send("{\"do\":\"connect\",\"name\":\"other\"}");
      peer.next("connect");
      peer.send("{\"do\":\"freeze\",\"name\":\"sleepy\"}");
      peer.next("frozen");
      // The client does not read now, but can still send.
      peer.send("{\"do\":\"emit\",\"name\":\"sleepy\",\"event\":\"flood\"}");
      peer.send("{\"do\":\"ask\",\"name\":\"other\",\"event\":\"echo\",\"args\":[1]}");
      assertThat(peer.next("ack").at("/answer/0").asInt()).isEqualTo(1);

      var most = 0L;
      while (api.host.cut.isEmpty()) {
        most = Math.max(most, api.sockets.waitingBytes());
        if (most > 0) {
          api.time.advance(Duration.ofMillis(100));
        }
        peer.send("{\"do\":\"ask\",\"name\":\"other\",\"event\":\"echo\",\"args\":[2]}");
        assertThat(peer.next("ack").at("/answer/0").asInt()).isEqualTo(2);
      }
      assertThat(api.host.cut.take()).isEqualTo(sleepy);
      assertThat(api.host.ended.poll(20, TimeUnit.SECONDS)).isEqualTo(sleepy);
      assertThat(most).isPositive().isLessThan(2L * SocketIoSettings.DEFAULTS.outboxBytes());
      assertThat(api.sockets.connections()).isEqualTo(1);
      assertThat(api.host.flooded.get()).isPositive();
    }
  }

  @Test
  void two_hundred_come_at_once() throws Exception {
    try (var api = new SocketTestServer();
        var peer = new NodeTestClient("socket-io.mjs", api.url())) {
      for (var i = 0; i < 200; i++) {
        peer.send("{\"do\":\"connect\",\"name\":\"" + i + "\"}");
      }
      var ids = collectIds(api, peer, 200);
      assertThat(ids).hasSize(200);
      for (var i = 0; i < 200; i++) {
        peer.send(
            "{\"do\":\"ask\",\"name\":\"%d\",\"event\":\"echo\",\"args\":[%d]}".formatted(i, i));
      }
      for (var i = 0; i < 200; i++) {
        var ack = peer.next("ack");
        assertThat(ack.at("/answer/0").asString()).isEqualTo(ack.path("name").asString());
      }
      peer.kill();
      // The server detects the end of a polling client only by its missing pong.
      while (!ids.isEmpty()) {
        var ended = api.host.ended.poll();
        if (ended == null) {
          api.time.advance(Duration.ofSeconds(1));
          Thread.onSpinWait();
        } else {
          assertThat(ids.remove(ended)).isTrue();
        }
      }
      assertThat(api.sockets.connections()).isZero();
    }
  }

  /// The ids of this many clients that connect. A client that polls once more while it changes to a
  /// WebSocket waits for the end of this poll, so time must pass for it.
  private static Set<String> collectIds(SocketTestServer api, NodeTestClient peer, int count)
      throws Exception {
    var collected =
        ManualTime.start(
            "collector",
            () -> {
              var ids = new HashSet<String>();
              for (var i = 0; i < count; i++) {
                ids.add(event(peer, "connected").at("/args/0/clientId").asString());
              }
              return ids;
            });
    while (true) {
      try {
        return collected.get(50, TimeUnit.MILLISECONDS);
      } catch (TimeoutException later) {
        api.time.advanceIfWaiting("request", Duration.ofMillis(100));
      }
    }
  }

  private static JsonNode event(NodeTestClient peer, String name) throws InterruptedException {
    return peer.next(
        fact ->
            fact.path("is").asString().equals("event")
                && fact.path("event").asString().equals(name));
  }

  static ApiTokens.ApiToken token(String name) throws Exception {
    var hash =
        MessageDigest.getInstance("SHA-256")
            .digest(("secret-" + name).getBytes(StandardCharsets.UTF_8));
    return new ApiTokens.ApiToken(name, HexFormat.of().formatHex(hash));
  }
}
