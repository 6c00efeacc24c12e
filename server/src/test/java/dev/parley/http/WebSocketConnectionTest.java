package dev.parley.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// WebSockets of the listener, with the JDK's client.
class WebSocketConnectionTest {

  private static final HttpLimits LIMITS =
      new HttpLimits(200_000, 3, Duration.ofSeconds(30), Duration.ofSeconds(30));
  private static final String SECRET = "a secret";

  /// Messages of lengths around every boundary of the encoding.
  private static final List<List<String>> MANY =
      List.of(
          List.of("", "a", "b".repeat(125), "c".repeat(126), "d".repeat(127)),
          List.of("e".repeat(65_531), "f"),
          List.of("g".repeat(65_532), "", "h".repeat(65_533), "i".repeat(65_535)),
          List.of("j".repeat(65_536), "k", "ä€😀".repeat(15_000), "l"),
          java.util.stream.IntStream.range(0, 2_000).mapToObj(n -> n + "m".repeat(100)).toList(),
          List.of("n"),
          List.of("o"));

  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private final ManualTime time = new ManualTime();
  private OpenStreams openStreams = new OpenStreams(LIMITS.streams(), time);
  private HttpListener listener = listener(LIMITS, List.of());

  @AfterEach
  void close() {
    listener.close();
  }

  @Test
  void what_is_said_is_heard_in_order_whole_and_in_any_script() throws Exception {
    try (var client = new WebSocketTestClient(listener.port(), "/echo?to=you")) {
      assertThat(client.next()).isEqualTo("local, you");
      var large = "ä€😀".repeat(20_000);
      client.send(large);
      client.send("");
      client.send("small");
      assertThat(client.next()).isEqualTo(large);
      assertThat(client.next()).isEmpty();
      assertThat(client.next()).isEqualTo("small");
      client.leave();
      assertThat(client.closed()).isEqualTo("1000 ");
    }
  }

  @Test
  void many_messages_of_any_length_go_out_together_and_arrive_one_by_one() throws Exception {
    try (var client = new WebSocketTestClient(listener.port(), "/echo")) {
      client.next();
      client.send("many");
      for (var parcel : MANY) {
        for (var text : parcel) {
          assertThat(client.next()).isEqualTo(text);
        }
      }
      client.send("and so on");
      assertThat(client.next()).isEqualTo("and so on");
    }
  }

  @Test
  void the_handler_says_when_it_is_enough() throws Exception {
    try (var client = new WebSocketTestClient(listener.port(), "/echo")) {
      client.send("bye");
      assertThat(client.closed()).isEqualTo("1000 ");
    }
  }

  @Test
  void a_handler_that_fails_says_no_more_than_that() throws Exception {
    try (var client = new WebSocketTestClient(listener.port(), "/echo")) {
      client.send("fail");
      assertThat(client.closed()).isEqualTo("1011 the server failed; see its log");
    }
  }

  @Test
  void too_much_at_once_is_refused() throws Exception {
    try (var client = new WebSocketTestClient(listener.port(), "/echo")) {
      client.send("x".repeat(200_001));
      assertThat(client.closed()).startsWith("1009 a message may have at most 200000 bytes");
    }
  }

  @Test
  void bytes_are_refused() throws Exception {
    try (var client = new WebSocketTestClient(listener.port(), "/echo")) {
      client.send(new byte[] {1, 2});
      assertThat(client.closed()).startsWith("1003 ");
    }
  }

  @Test
  void without_an_upgrade_there_is_a_problem() throws Exception {
    try (var http = HttpClient.newHttpClient()) {
      var reply = http.send(request("/echo"), BodyHandlers.ofString());
      assertThat(reply.statusCode()).isEqualTo(426);
      assertThat(reply.headers().firstValue("Upgrade")).hasValue("websocket");
      assertThat(reply.body()).contains("upgrade-required");
    }
  }

  @Test
  void an_unknown_parameter_is_refused_as_everywhere() {
    assertThat(WebSocketTestClient.refusal(listener.port(), "/echo?x=1", Map.of())).isEqualTo(400);
    assertThat(WebSocketTestClient.refusal(listener.port(), "/nowhere", Map.of())).isEqualTo(404);
  }

  @Test
  void pages_from_elsewhere_may_not_come() throws Exception {
    assertThat(
            WebSocketTestClient.refusal(
                listener.port(), "/echo", Map.of("Origin", "https://evil.example")))
        .isEqualTo(403);
    try (var friend =
        new WebSocketTestClient(
            listener.port(), "/echo", Map.of("Origin", "https://good.example"), true)) {
      assertThat(friend.next()).isEqualTo("local, nobody");
    }
  }

  @Test
  void a_token_is_shown_in_a_header_or_a_cookie() throws Exception {
    var hash = HexFormat.of().formatHex(Sha256.of(SECRET));
    listener.close();
    listener = listener(LIMITS, List.of(new ApiTokens.ApiToken("ann", hash)));

    assertThat(WebSocketTestClient.refusal(listener.port(), "/echo", Map.of())).isEqualTo(401);
    for (var header :
        List.of(
            Map.of("Authorization", "Bearer " + SECRET),
            Map.of("Cookie", "parley_token=" + SECRET))) {
      try (var client = new WebSocketTestClient(listener.port(), "/echo", header, true)) {
        assertThat(client.next()).isEqualTo("ann, nobody");
      }
    }
  }

  @Test
  void there_are_no_more_sockets_than_streams_may_be() throws Exception {
    try (var one = new WebSocketTestClient(listener.port(), "/echo");
        var two = new WebSocketTestClient(listener.port(), "/echo");
        var three = new WebSocketTestClient(listener.port(), "/echo")) {
      for (var client : List.of(one, two, three)) {
        client.next();
      }
      assertThat(WebSocketTestClient.refusal(listener.port(), "/echo", Map.of())).isEqualTo(429);
      one.leave();
      one.closed();
      openStreams.awaitCount(2, Duration.ofSeconds(20));
      try (var four = new WebSocketTestClient(listener.port(), "/echo")) {
        assertThat(four.next()).isEqualTo("local, nobody");
      }
    }
  }

  @Test
  void a_server_that_stops_says_so_to_all() throws Exception {
    try (var one = new WebSocketTestClient(listener.port(), "/echo");
        var two = new WebSocketTestClient(listener.port(), "/echo")) {
      one.next();
      two.next();
      listener.drain(Duration.ofSeconds(5));
      assertThat(one.closed()).isEqualTo("1001 the server is stopping");
      assertThat(two.closed()).isEqualTo("1001 the server is stopping");
      assertThat(openStreams.count()).isZero();
    }
  }

  @Test
  void who_does_not_read_is_sent_away() throws Exception {
    listener.close();
    listener =
        listener(
            new HttpLimits(200_000, 3, Duration.ofSeconds(2), Duration.ofSeconds(30)), List.of());
    try (var _ = new WebSocketTestClient(listener.port(), "/flood", Map.of(), false)) {
      while (!failure.isDone()) {
        time.advance(Duration.ofSeconds(2));
        Thread.onSpinWait();
      }
      assertThat(failure.get()).isInstanceOf(IOException.class);
      openStreams.awaitCount(0, Duration.ofSeconds(20));
      assertThat(openStreams.count()).isZero();
    }
  }

  @Test
  void a_silent_peer_is_pinged_and_stays() throws Exception {
    listener.close();
    listener =
        listener(
            new HttpLimits(200_000, 3, Duration.ofSeconds(3), Duration.ofSeconds(30)), List.of());
    try (var client = new WebSocketTestClient(listener.port(), "/echo")) {
      client.next();
      for (var i = 0; i < 3; i++) {
        time.advanceToWait("socket", Duration.ofSeconds(1));
        client.ping();
        // Otherwise the pong might arrive after time has moved, and there would be no silence.
        client.awaitReceived();
      }
      client.send("still here");
      assertThat(client.next()).isEqualTo("still here");
    }
  }

  @Test
  void a_peer_that_answers_no_ping_is_gone() throws Exception {
    listener.close();
    listener =
        listener(
            new HttpLimits(200_000, 3, Duration.ofSeconds(3), Duration.ofSeconds(30)), List.of());
    try (var raw = new java.net.Socket(InetAddress.getLoopbackAddress(), listener.port())) {
      raw.getOutputStream()
          .write(
              """
              GET /echo HTTP/1.1\r
              Host: localhost\r
              Upgrade: websocket\r
              Connection: Upgrade\r
              Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
              Sec-WebSocket-Version: 13\r
              \r
              """
                  .getBytes(StandardCharsets.US_ASCII));
      for (var i = 0; i < 3; i++) {
        time.advanceToWait("socket", Duration.ofSeconds(1));
      }
      // Reads without answering, until the server closes the connection.
      var all = new String(raw.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
      assertThat(all).startsWith("HTTP/1.1 101").contains("nothing was received");
    }
    openStreams.awaitCount(0, Duration.ofSeconds(20));
    assertThat(openStreams.count()).isZero();
  }

  private HttpListener listener(HttpLimits httpLimits, List<ApiTokens.ApiToken> tokens) {
    openStreams = new OpenStreams(httpLimits.streams(), time);
    var httpSettings =
        new HttpSettings(
            "127.0.0.1",
            0,
            Set.of(),
            Set.of("https://good.example"),
            tokens,
            Duration.ZERO,
            httpLimits);
    var made =
        new HttpListener(
            new HttpListener.HttpListenerDependencies(
                httpSettings,
                new Metrics(),
                openStreams,
                time,
                new SystemThreads(),
                UUID::randomUUID),
            List.of(
                Route.webSocket(
                    "/echo",
                    "Says it again",
                    List.of(Parameter.query("to", "whom to greet")),
                    request ->
                        new Reply.Upgrade(
                            webSocketConnection ->
                                echo(
                                    webSocketConnection,
                                    request.principal()
                                        + ", "
                                        + request.query("to").orElse("nobody")))),
                Route.webSocket(
                    "/flood", "Never stops", List.of(), _ -> new Reply.Upgrade(this::flood))));
    made.start();
    return made;
  }

  private static void echo(WebSocketConnection webSocketConnection, String greeting)
      throws IOException, InterruptedException {
    webSocketConnection.send(greeting);
    for (var text = webSocketConnection.receive();
        text != null;
        text = webSocketConnection.receive()) {
      switch (text) {
        case "bye" -> {
          return;
        }
        case "many" -> webSocketConnection.send(MANY.stream().map(EncodedFrames::of).toList());
        case "fail" -> throw new IllegalStateException("secret");
        default -> webSocketConnection.send(text);
      }
    }
  }

  private void flood(WebSocketConnection webSocketConnection) throws InterruptedException {
    try {
      while (true) {
        webSocketConnection.send("x".repeat(10_000));
      }
    } catch (IOException gone) {
      failure.complete(gone);
    }
  }

  private HttpRequest request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + listener.port() + path)).build();
  }
}
