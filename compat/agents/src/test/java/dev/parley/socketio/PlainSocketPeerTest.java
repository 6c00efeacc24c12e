package dev.parley.socketio;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.WebSocketTestClient;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Named events on a plain WebSocket: AGENT-64.
class PlainSocketPeerTest {

  @Test
  void both_sides_say_and_ask() throws Exception {
    try (var api = new SocketTestServer();
        var socket = new WebSocketTestClient(api.http.port(), "/ws")) {
      var first = socket.json();
      assertThat(first.path("event").asString()).isEqualTo("connected");
      var id = first.at("/data/clientId").asString();
      socket.send("{\"event\":\"echo\",\"data\":{\"a\":[1,\"ä\"]}}");
      assertThat(socket.next()).isEqualTo("{\"event\":\"echoed\",\"data\":{\"a\":[1,\"ä\"]}}");
      socket.send("{\"event\":\"echo\",\"data\":2,\"id\":\"q\"}");
      assertThat(socket.next()).isEqualTo("{\"event\":\"echoed\",\"data\":2}");
      assertThat(socket.next()).isEqualTo("{\"ack\":\"q\",\"data\":2}");
      socket.send("{\"event\":\"refuse\",\"id\":3}");
      var error = "{\"event\":\"refuse\",\"code\":\"nope\",\"message\":\"this cannot be\"}";
      assertThat(socket.next()).isEqualTo("{\"event\":\"error\",\"data\":" + error + "}");
      assertThat(socket.next()).isEqualTo("{\"ack\":3,\"error\":" + error + "}");
      socket.leave();
      assertThat(api.host.ended.poll(20, TimeUnit.SECONDS)).isEqualTo(id);
    }
  }

  @Test
  void nonsense_and_failures_are_told_and_the_socket_stays() throws Exception {
    try (var api = new SocketTestServer();
        var socket = new WebSocketTestClient(api.http.port(), "/ws")) {
      socket.next();
      for (var nonsense :
          new String[] {"{", "[]", "{}", "{\"event\":1}", "{\"event\":\"echo\",\"id\":[]}"}) {
        socket.send(nonsense);
        assertThat(socket.json().path("event").asString()).as(nonsense).isEqualTo("error");
      }
      socket.send("{\"event\":\"fail\"}");
      assertThat(socket.next()).contains("\"internal\"").doesNotContain("secret");
      socket.send("{\"event\":\"echo\",\"data\":1}");
      assertThat(socket.next()).isEqualTo("{\"event\":\"echoed\",\"data\":1}");
    }
  }

  @Test
  void a_token_is_needed_where_tokens_are() throws Exception {
    try (var api = new SocketTestServer(SocketIoTest.token("ann"))) {
      assertThat(WebSocketTestClient.refusal(api.http.port(), "/ws", Map.of())).isEqualTo(401);
      try (var socket =
          new WebSocketTestClient(
              api.http.port(), "/ws", Map.of("Authorization", "Bearer secret-ann"), true)) {
        assertThat(socket.json().at("/data/who").asString()).isEqualTo("ann");
      }
    }
  }

  @Test
  void a_server_that_stops_says_so() throws Exception {
    try (var api = new SocketTestServer();
        var socket = new WebSocketTestClient(api.http.port(), "/ws")) {
      socket.next();
      api.http.drain(Duration.ofSeconds(5));
      assertThat(socket.closed()).isEqualTo("1001 the server is stopping");
      assertThat(api.host.ended.poll(20, TimeUnit.SECONDS)).isNotNull();
    }
  }
}
