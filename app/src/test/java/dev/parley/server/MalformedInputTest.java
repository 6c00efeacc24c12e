package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.HttpLimits;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.runtime.ManualTime;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What no decent client sends: clear answers, no stack traces, nothing lost.
class MalformedInputTest {

  private static final String CREATE =
      "POST /api/contexts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

  @TempDir Path folder;
  private static TestServer testServer;

  @BeforeAll
  static void open(@TempDir Path shared) {
    var httpLimits = new HttpLimits(1 << 20, 100, Duration.ofSeconds(2), Duration.ofSeconds(2));
    testServer = TestServer.open(shared, TestServer.Wish.USUAL.limits(httpLimits));
    testServer.context("c");
  }

  @AfterAll
  static void close() {
    testServer.close();
  }

  @AfterEach
  void the_server_still_answers() {
    assertThat(testServer.get("/healthz").statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "[]",
        "null",
        "\"x\"",
        "{\"title\":1e999}x",
        "{\"title\":{}}",
        "{\"metadata\":[]}",
        "{\"contextId\":7}",
        "{\"contextId\":\"../etc\"}",
        "{\"contextId\":\"\"}",
        "{\"title\":\" \"}",
        "{\"title\":\"\\ud800\"}",
        "{\"title\":\"a\",\"title\":\"b\"}"
      })
  void a_body_that_does_not_fit_is_refused(String body) {
    assertProblem(testServer.post("/api/contexts", body).body(), 400);
  }

  @Test
  void deeply_nested_json_is_refused() {
    var deep = "{\"metadata\":" + "{\"a\":".repeat(50_000) + "1" + "}".repeat(50_000) + "}";
    assertProblem(testServer.post("/api/contexts", deep).body(), 400);
  }

  @Test
  void bytes_that_are_not_utf_8_are_refused() {
    for (var bad :
        new byte[][] {
          {(byte) 0xff}, {(byte) 0xed, (byte) 0xa0, (byte) 0x80}, {(byte) 0xc0, (byte) 0x80}
        }) {
      var body = new java.io.ByteArrayOutputStream();
      body.writeBytes("{\"title\":\"".getBytes(StandardCharsets.UTF_8));
      body.writeBytes(bad);
      body.writeBytes("\"}".getBytes(StandardCharsets.UTF_8));
      var reply =
          testServer.send(
              testServer
                  .request("/api/contexts", "Content-Type", "application/json")
                  .POST(BodyPublishers.ofByteArray(body.toByteArray())));
      assertProblem(reply.body(), 400);
    }
  }

  @Test
  void other_content_types_are_refused() {
    var reply =
        testServer.send(
            testServer
                .request("/api/contexts", "Content-Type", "text/plain")
                .POST(BodyPublishers.ofString("{}")));
    assertProblem(reply.body(), 415);
    assertThat(reply.body()).contains("unsupported-media-type");
  }

  @Test
  void a_body_that_says_it_is_too_large_is_refused_before_it_is_read() throws IOException {
    var reply = testServer.raw(CREATE + "Content-Length: 999999999\r\nConnection: close\r\n\r\n{");
    assertProblem(body(reply), 413);
  }

  @Test
  void a_chunked_body_that_grows_too_large_is_refused() throws IOException {
    try (var socket = testServer.connect()) {
      var out = socket.getOutputStream();
      out.write(ascii(CREATE + "Transfer-Encoding: chunked\r\n\r\n"));
      var chunk = ascii("10000\r\n" + "x".repeat(65_536) + "\r\n");
      for (var i = 0; i < 17; i++) {
        out.write(chunk);
      }
      out.flush();
      assertThat(status(socket)).startsWith("HTTP/1.1 413 ");
    }
  }

  @Test
  void a_body_that_stops_coming_times_out() throws IOException {
    var reply = testServer.raw(CREATE + "Content-Length: 10\r\nConnection: close\r\n\r\n{");
    assertProblem(body(reply), 408);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-1",
        "abc",
        "1.",
        ".1",
        "1.2.3",
        "1e3",
        "99999999999999999999999999",
        "9223372036854775808",
        "0x10",
        "%2e%2e",
        "%00",
        "1%20",
        "17,2",
        "NaN",
        "٣"
      })
  void an_absurd_cursor_is_refused(String cursor) {
    var encoded = cursor.replace("٣", "%D9%A3");
    for (var path : new String[] {"stream", "events"}) {
      var reply = testServer.get("/api/contexts/c/" + path + "?after=" + encoded);
      assertProblem(reply.body(), 400);
      assertThat(reply.body()).contains("invalid-cursor");
    }
  }

  @Test
  void an_absurd_last_event_id_is_refused() {
    var reply = testServer.get("/api/contexts/c/stream", "Last-Event-ID", "latest");
    assertProblem(reply.body(), 400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "kinds=nonsense",
        "exclude=task-created,x",
        "kinds=",
        "verbosity=loud",
        "thoughtTypes=deep",
        "minConfidence=2",
        "minConfidence=x",
        "internal=maybe",
        "merge=1",
        "taskId=a/b",
        "unknown=1",
        "limit=0",
        "limit=-5",
        "limit=x",
        "after=1&after=2",
        "%zz=1"
      })
  void unknown_query_values_are_refused(String query) throws IOException {
    var path = query.startsWith("limit") ? "events" : "stream";
    var reply =
        testServer.raw(
            "GET /api/contexts/c/"
                + path
                + "?"
                + query
                + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assertProblem(body(reply), 400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/api/contexts/%2e%2e/events",
        "/api/contexts/../../etc/passwd",
        "/api/contexts/a%2fb/events",
        "/api/contexts/%00/events",
        "/api/contexts/a%0d%0aX:1/events",
        "/api/contexts//events",
        "/api/contexts/;x=1/events",
        "/api/contexts/%ff/events",
        "/api/contexts/" + "a%20b" + "/events",
        "/api/contexts/%zz/events",
        "//api/contexts",
        "/api/contexts/c/events/",
        "/nothing/here"
      })
  void path_tricks_lead_nowhere(String path) throws IOException {
    var reply =
        testServer.raw("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assertThat(reply).containsPattern("^HTTP/1.1 40[04] ");
    assertProblem(body(reply), Integer.parseInt(reply.substring(9, 12)));
  }

  @Test
  void an_id_that_is_too_long_is_refused() {
    assertProblem(testServer.get("/api/contexts/" + "a".repeat(129) + "/events").body(), 400);
  }

  @Test
  void a_wrong_method_is_told_the_right_ones() {
    var reply = testServer.send(testServer.request("/api/contexts/c/stream").DELETE());
    assertProblem(reply.body(), 405);
    assertThat(reply.headers().firstValue("Allow")).hasValue("GET, HEAD, OPTIONS");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GARBAGE\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nBad Header: x\r\n\r\n",
        "POST /api/contexts HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n{}",
        "\u0000\u0001\u0002\r\n\r\n"
      })
  void what_is_not_http_gets_a_problem_or_a_closed_api(String request) throws IOException {
    var reply = testServer.raw(request);
    if (!reply.isEmpty()) {
      assertThat(reply).containsPattern("^HTTP/1.1 [45]\\d\\d ");
      assertThat(reply).doesNotContain("Jetty").doesNotContain("Server:").doesNotContain("org.");
      assertProblem(body(reply), Integer.parseInt(reply.substring(9, 12)));
    }
  }

  @Test
  void too_large_headers_and_uris_are_refused() throws IOException {
    var flood = "X-Flood: " + "y".repeat(1_000) + "\r\n";
    var headers =
        testServer.raw("GET / HTTP/1.1\r\nHost: localhost\r\n" + flood.repeat(40) + "\r\n");
    assertProblem(body(headers), 431);
    var uri =
        testServer.raw(
            "GET /healthz?a="
                + "b".repeat(9_000)
                + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assertProblem(body(uri), 414);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/api/contexts", "/nothing/here", "/a2a/nobody/message:send"})
  void who_is_refused_before_the_body_has_come_is_told_that_the_connection_ends(String path)
      throws IOException {
    try (var socket = testServer.connect()) {
      var head = " HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n";
      socket.getOutputStream().write(ascii("POST " + path + head + "Content-Length: 9\r\n\r\n"));

      var reply = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

      assertThat(reply).containsPattern("^HTTP/1.1 4\\d\\d ").contains("Connection: close");
    }
  }

  @Test
  void who_reads_only_after_sending_all_reads_why_it_was_refused() throws IOException {
    try (var socket = testServer.connect()) {
      var length = 64 << 20;
      var out = socket.getOutputStream();
      out.write(ascii(CREATE + "Content-Length: " + length + "\r\n\r\n"));
      var part = new byte[1 << 16];
      for (var sent = 0; sent < length; sent += part.length) {
        out.write(part);
      }

      var reply = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

      assertThat(reply).startsWith("HTTP/1.1 413 ").contains("Connection: close");
    }
  }

  @Test
  void who_sends_without_end_is_answered_meanwhile() throws Exception {
    var time = new ManualTime();
    try (var own = TestServer.open(folder.resolve("own"), "", time, log -> log);
        var socket = own.connect()) {
      var out = socket.getOutputStream();
      out.write(
          ascii("POST /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"));
      var sender =
          Thread.ofVirtual()
              .start(
                  () -> {
                    var chunk = ascii("10000\r\n" + "x".repeat(65_536) + "\r\n");
                    try {
                      while (true) {
                        out.write(chunk);
                      }
                    } catch (IOException closed) {
                      // What it was waiting for.
                    }
                  });

      assertThat(status(socket)).startsWith("HTTP/1.1 404 ");
      // The server reads on for five seconds, from when it has sent the reply.
      while (!sender.join(Duration.ofMillis(10))) {
        time.advance(Duration.ofSeconds(5));
      }
    }
  }

  @Test
  void who_waits_to_be_asked_for_the_body_is_refused_without() throws IOException {
    var reply =
        testServer.raw(CREATE + "Content-Length: 999999999\r\nExpect: 100-continue\r\n\r\n");
    assertThat(reply).startsWith("HTTP/1.1 413 ").contains("Connection: close");
  }

  @Test
  void who_is_refused_after_the_body_has_come_goes_on_with_the_connection() throws IOException {
    var head = " HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n";
    var refused = "POST /api/contexts" + head + "Content-Length: 9\r\n\r\nnot JSON!";
    var next = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

    assertThat(testServer.raw(refused + next)).startsWith("HTTP/1.1 415").contains("HTTP/1.1 200");
  }

  @Test
  void thousands_of_half_open_requests_keep_nobody_out() throws IOException {
    var sockets = new ArrayList<Socket>();
    try {
      for (var i = 0; i < 2_000; i++) {
        var socket = testServer.connect();
        sockets.add(socket);
        socket.getOutputStream().write(ascii(i % 2 == 0 ? "GET /api/con" : CREATE + "Content-L"));
      }
      assertThat(testServer.get("/api/contexts/c/events").statusCode()).isEqualTo(200);
      for (var socket : sockets) {
        socket.getInputStream().readAllBytes();
      }
    } finally {
      for (var socket : sockets) {
        socket.close();
      }
    }
  }

  @Test
  void a_client_that_sends_only_empty_lines_is_disconnected() throws IOException {
    var ask = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    try (var patient = patientSite();
        var fresh = patient.connect();
        var used = patient.connect()) {
      fresh.getOutputStream().write(ascii("\r\n"));
      assertThat(fresh.getInputStream().readAllBytes()).isEmpty();

      used.getOutputStream().write(ascii(ask));
      assertThat(status(used)).startsWith("HTTP/1.1 200 ");
      used.getOutputStream().write(ascii("\r\n\r\n"));
      var _ = used.getInputStream().readAllBytes();
    }
  }

  @Test
  void empty_lines_around_a_request_do_not_disconnect_a_stream() throws IOException {
    try (var patient = patientSite();
        var stream = patient.connect();
        var idle = patient.connect()) {
      var context = patient.context("c");
      stream
          .getOutputStream()
          .write(ascii("\r\nGET /api/contexts/c/stream HTTP/1.1\r\nHost: localhost\r\n\r\n\r\n"));
      assertThat(status(stream)).startsWith("HTTP/1.1 200 ");
      idle.getOutputStream().write(ascii("\r\n"));
      // When this connection is closed, the time for the headers has passed for both.
      assertThat(idle.getInputStream().readAllBytes()).isEmpty();

      patient.append(context, new StateUpdated(Json.object().put("still", "here")));

      var lines = stream.getInputStream();
      var text = new StringBuilder();
      while (text.indexOf("here") < 0) {
        var next = lines.read();
        assertThat(next).as("the stream ended after %s", text).isNotNegative();
        text.append((char) next);
      }
    }
  }

  /// A site that gives headers one second, and idle connections longer than any test takes.
  private TestServer patientSite() {
    var httpLimits = new HttpLimits(1 << 20, 100, Duration.ofMinutes(10), Duration.ofSeconds(1));
    return TestServer.open(folder.resolve("patient"), TestServer.Wish.USUAL.limits(httpLimits));
  }

  @Test
  void no_garbage_leaves_a_trace_in_the_log() {
    var context = new dev.parley.protocol.ContextId("c");
    for (var body : new String[] {"{", "[]", "{\"content\":\" \"}", "{\"content\":5}", "{}"}) {
      assertProblem(testServer.post("/api/contexts/c/messages", body).body(), 400);
    }
    assertThat(testServer.log.read(context, Position.START, 10)).hasSize(1);
  }

  private static void assertProblem(String body, int status) {
    assertThat(body)
        .doesNotContain("Exception")
        .doesNotContain("dev.parley")
        .doesNotContain("at org");
    var problem = Json.mapper().readTree(body);
    assertThat(problem.path("status").asInt()).as(body).isEqualTo(status);
    assertThat(problem.path("type").asString()).isEqualTo("about:blank");
    assertThat(problem.path("title").asString()).isNotEmpty();
    assertThat(problem.path("detail").asString()).isNotEmpty();
    assertThat(problem.path("code").asString()).matches("[a-z0-9-]+");
  }

  private static String body(String reply) {
    return reply.substring(reply.indexOf("\r\n\r\n") + 4);
  }

  private static String status(Socket socket) throws IOException {
    var line = new StringBuilder();
    for (var c = socket.getInputStream().read();
        c >= 0 && c != '\r';
        c = socket.getInputStream().read()) {
      line.append((char) c);
    }
    return line.toString();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
