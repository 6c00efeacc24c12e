package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Agents behind a service elsewhere: another Parley, or something that behaves worse.
class ProxyAgentTest {

  private static final String START =
      line(
              """
              {"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}""")
          + line(
              """
              {"type":"stream_event","event":{"type":"content_block_start","index":0,\
              "content_block":{"type":"text"}}}""");
  private static final String DELTA =
      line(
          """
          {"type":"stream_event","event":{"type":"content_block_delta","index":0,\
          "delta":{"type":"text_delta","text":"Hello"}}}""");
  private static final String HELLO = START + DELTA;
  private static final String RESULT =
      line(
          """
          {"type":"result","subtype":"success","is_error":false,"result":"Hello"}""");
  private static final String COMPLETE =
      """
      event: complete
      data: {"status":"success","duration":5,"messageCount":4}

      """;

  private static String line(String json) {
    return "event: message\ndata: " + json + "\n\n";
  }

  @TempDir Path folder;
  private HttpServer service;
  private final LinkedBlockingQueue<String> asked = new LinkedBlockingQueue<>();
  private final CountDownLatch over = new CountDownLatch(1);

  @BeforeEach
  void open() throws IOException {
    service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    service.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    service.start();
  }

  @AfterEach
  void close() {
    over.countDown();
    service.stop(0);
  }

  private interface Answer {
    void give(HttpExchange exchange) throws IOException;
  }

  private void on(String path, Answer answer) {
    service.createContext(
        path,
        exchange -> {
          var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " " + body);
          answer.give(exchange);
          exchange.close();
        });
  }

  private static void stream(HttpExchange exchange, String... frames) throws IOException {
    exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    for (var frame : frames) {
      exchange.getResponseBody().write(frame.getBytes(StandardCharsets.UTF_8));
      exchange.getResponseBody().flush();
    }
  }

  private Site near(String url) throws IOException {
    return near(url, "10s");
  }

  private Site near(String url, String silence) throws IOException {
    var here = Files.createDirectories(folder.resolve("near"));
    return Site.configured(
        here, "agents: [{id: far, type: proxy, url: \"" + url + "\", silence: " + silence + "}]\n");
  }

  private String url() {
    return "http://127.0.0.1:" + service.getAddress().getPort();
  }

  @Test
  void another_parley_works_as_an_agent_here() throws Exception { // S2.10
    var there = Files.createDirectories(folder.resolve("far"));
    Files.writeString(there.resolve("a.txt"), "apples");
    try (var far = Site.configured(there, "agents: [{id: worker, tools: [files]}]\n");
        var near = near(far.url.toString())) {
      var counted = ended(near, launch(near, "count to 3"));
      assertThat(counted.path("status").asString()).isEqualTo("completed");
      var messages = messages(near, counted.path("id").asString());
      assertThat(deltas(messages)).isEqualTo("1 2 3");
      assertThat(messages.getLast().path("content").asString()).isEqualTo("1 2 3");

      var read = ended(near, launch(near, "read a.txt"));
      assertThat(messages(near, read.path("id").asString()))
          .anyMatch(
              m ->
                  m.path("metadata").path("tool_use").path("name").asString("").equals("read_file"))
          .anyMatch(
              m ->
                  m.path("metadata").has("tool_result")
                      && m.path("content").toString().contains("apples"));

      var failed = ended(near, launch(near, "fail"));
      assertThat(failed.path("status").asString()).isEqualTo("failed");
    }
  }

  @Test
  void stopping_it_here_stops_it_there() throws Exception { // S2.9
    var there = Files.createDirectories(folder.resolve("far"));
    try (var far = Site.configured(there, "agents: [{id: worker, tools: [files]}]\n");
        var near = near(far.url.toString())) {
      var id = launch(near, "count slowly to 1000");
      Orders.await(near.log, context(near, id), e -> e.event().kind() == Kind.CONTENT_DELTA);
      assertThat(near.send(near.request("/api/agents/" + id).DELETE()).statusCode()).isEqualTo(204);
      var remote = json(far.get("/api/agents").body()).get(0);
      assertThat(ended(far, remote.path("id").asString()).path("status").asString())
          .isEqualTo("terminated");
      assertThat(json(near.get("/api/agents/" + id).body()).path("status").asString())
          .isEqualTo("terminated");
    }
  }

  @Test
  void a_plain_service_is_understood_and_its_noise_is_kept()
      throws Exception { // S2.21, S2.22, S2.26
    on(
        "/agent/stream",
        exchange ->
            stream(
                exchange,
                "data: not json\n\n",
                HELLO,
                ": a comment\n\nevent: message\r\ndata: {\"type\":\"rate_limit_event\"}\r\n\r\n",
                RESULT,
                COMPLETE));
    try (var near = near(url())) {
      var agent = ended(near, launch(near, "hi; \"$(touch /tmp/pwned)\""));
      assertThat(agent.path("status").asString()).isEqualTo("completed");
      var id = agent.path("id").asString();
      assertThat(deltas(messages(near, id))).isEqualTo("Hello");
      assertThat(json(near.get("/api/agents/" + id + "/raw").body()).path("items"))
          .extracting(item -> item.path("line").asString())
          .contains("not json", "{\"type\":\"rate_limit_event\"}");
      assertThat(
              json(asked.take().substring("POST /agent/stream ".length()))
                  .path("prompt")
                  .asString())
          .isEqualTo("hi; \"$(touch /tmp/pwned)\"");
    }
  }

  @Test
  void a_broken_connection_is_taken_up_where_events_have_ids() throws Exception {
    on(
        "/agent/stream",
        exchange -> {
          exchange.getResponseHeaders().add("X-Agent-Id", "r1");
          if (exchange.getRequestMethod().equals("POST")) {
            stream(exchange, START, "id: 7\n" + DELTA);
          } else {
            asked.add("after " + exchange.getRequestHeaders().getFirst("Last-Event-ID"));
            stream(exchange, "id: 8\n" + RESULT, COMPLETE);
          }
        });
    try (var near = near(url())) {
      var agent = ended(near, launch(near, "hi"));
      assertThat(agent.path("status").asString()).isEqualTo("completed");
      assertThat(asked).contains("after 7", "GET /agent/stream/r1 ");
    }
  }

  @Test
  void a_service_that_is_away_for_a_while_is_tried_until_it_is_back() throws Exception {
    var tries = new AtomicInteger();
    on(
        "/agent/stream",
        exchange -> {
          exchange.getResponseHeaders().add("X-Agent-Id", "r1");
          if (exchange.getRequestMethod().equals("POST")) {
            stream(exchange);
            return;
          }
          switch (tries.incrementAndGet()) {
            case 1 -> exchange.sendResponseHeaders(503, -1);
            case 2 -> exchange.close(); // Without an answer, as one that is stopped.
            case 3 -> stream(exchange, "id: 6~1\n" + START, "id: 7\n" + DELTA);
            case 4 -> exchange.sendResponseHeaders(502, -1);
            default -> {
              asked.add("after " + exchange.getRequestHeaders().getFirst("Last-Event-ID"));
              stream(exchange, "id: 8\n" + RESULT, COMPLETE);
            }
          }
        });
    try (var near = near(url())) {
      var agent = ended(near, launch(near, "hi"));
      assertThat(agent.path("status").asString()).isEqualTo("completed");
      assertThat(deltas(messages(near, agent.path("id").asString()))).isEqualTo("Hello");
      assertThat(asked).contains("after 7");
    }
  }

  @Test
  void a_service_that_stays_away_is_given_up_in_the_end() throws Exception {
    on(
        "/agent/stream",
        exchange -> {
          exchange.getResponseHeaders().add("X-Agent-Id", "r1");
          if (exchange.getRequestMethod().equals("POST")) {
            stream(exchange, "id: 7\n" + HELLO);
          } else {
            exchange.sendResponseHeaders(503, -1);
          }
        });
    on("/agent/stop/r1", exchange -> exchange.sendResponseHeaders(200, -1));
    try (var near = near(url(), "1s")) {
      var agent = ended(near, launch(near, "hi"));
      assertThat(agent.path("status").asString()).isEqualTo("failed");
      assertThat(agent.path("error").path("message").asString())
          .isEqualTo("the service answers 503, for 1 s, so it was given up");
    }
  }

  @Test
  void another_parley_that_is_stopped_and_started_is_taken_up() throws Exception {
    var there = Files.createDirectories(folder.resolve("far"));
    var yaml = "agents: [{id: worker, tools: [files]}]\n";
    var far = Site.configured(there, yaml);
    try (var near = near(far.url.toString(), "60s")) {
      var id = launch(near, "count slowly to 20");
      Orders.await(near.log, context(near, id), e -> e.event().kind() == Kind.CONTENT_DELTA);
      far.close();
      far = Site.configured(there, yaml, far.url.getPort());
      var agent = ended(near, id);
      assertThat(agent.path("status").asString()).isEqualTo("completed");
      assertThat(deltas(messages(near, id))).startsWith("1 2 3").endsWith("19 20");
    } finally {
      far.close();
    }
  }

  @Test
  void what_ends_without_an_end_or_badly_is_a_failure() throws Exception { // S2.4
    on("/dropped/agent/stream", exchange -> stream(exchange, HELLO));
    on(
        "/bad/agent/stream",
        exchange ->
            stream(
                exchange,
                "event: error\ndata: {\"error\":\"no such program\"}\n\n",
                "event: complete\ndata: {\"status\":\"failed\"}\n\n"));
    on(
        "/busy/agent/stream",
        exchange -> {
          exchange.sendResponseHeaders(503, 4);
          exchange.getResponseBody().write("busy".getBytes(StandardCharsets.UTF_8));
        });
    try (var near = near(url() + "/dropped")) {
      var dropped = ended(near, launch(near, "hi"));
      assertThat(dropped.path("status").asString()).isEqualTo("failed");
      assertThat(dropped.path("error").path("name").asString()).isEqualTo("interrupted");
      assertThat(dropped.path("error").path("message").asString())
          .endsWith("it has no ids by which it could be taken up");
      assertThat(messages(near, dropped.path("id").asString()))
          .anyMatch(m -> m.path("metadata").path("partial").asBoolean(false));
    }
    try (var near = near(url() + "/bad")) {
      var bad = ended(near, launch(near, "hi"));
      assertThat(bad.path("error").path("message").asString()).isEqualTo("no such program");
    }
    try (var near = near(url() + "/busy")) {
      var busy = ended(near, launch(near, "hi"));
      assertThat(busy.path("error").path("message").asString())
          .isEqualTo("the service answered 503: busy");
    }
    try (var near = near("http://127.0.0.1:1")) {
      var none = ended(near, launch(near, "hi"));
      assertThat(none.path("error").path("message").asString())
          .startsWith("the service cannot be reached");
    }
  }

  @Test
  void a_silent_service_is_given_up_and_told_to_stop() throws Exception { // S2.8
    on(
        "/agent/stream",
        exchange -> {
          exchange.getResponseHeaders().add("X-Agent-Id", "r2");
          stream(exchange, HELLO);
          try {
            over.await();
          } catch (InterruptedException told) {
            Thread.currentThread().interrupt();
          }
        });
    on("/agent/stop/r2", exchange -> exchange.sendResponseHeaders(200, -1));
    try (var near = near(url(), "1s")) {
      var agent = ended(near, launch(near, "hi"));
      assertThat(agent.path("status").asString()).isEqualTo("failed");
      assertThat(agent.path("error").path("name").asString()).isEqualTo("timeout");
      assertThat(asked).contains("POST /agent/stop/r2 {}");
    }
  }

  @Test
  void its_lines_are_passed_on_as_they_were_by_the_proxy_here() throws Exception { // S2.2
    on(
        "/agent/stream",
        exchange ->
            stream(exchange, "data: {\"type\":\"odd\",  \"n\": 1.0}\n\n", HELLO, RESULT, COMPLETE));
    try (var near = near(url())) {
      var reply = near.post("/agent/stream", "{\"prompt\":\"hi\",\"agent\":\"far\"}").body();
      assertThat(reply)
          .contains("data: {\"type\":\"odd\",  \"n\": 1.0}\n")
          .contains(RESULT.substring(RESULT.indexOf("data:")))
          .contains("\"messageCount\":5");
      assertThat(near.log.withOpenTasks()).isEmpty();
    }
  }

  @Test
  void a_configuration_that_makes_no_sense_is_refused() {
    for (var wrong :
        List.of(
            "{id: x, type: proxy}",
            "{id: x, type: proxy, url: \"ftp://a\"}",
            "{id: x, type: proxy, url: \"http://a\", model: default}")) {
      org.assertj.core.api.Assertions.assertThatThrownBy(
              () -> Site.configured(folder, "agents: [" + wrong + "]\n").close())
          .as(wrong)
          .isInstanceOf(dev.parley.protocol.Rejection.Invalid.class);
    }
  }

  private static String launch(Site site, String prompt) {
    var body = Json.object().put("type", "far").put("prompt", prompt).toString();
    return json(site.post("/api/agents", body).body()).path("agentId").asString();
  }

  private static JsonNode ended(Site site, String agent) throws InterruptedException {
    Orders.await(site.log, context(site, agent), entry -> ends(entry, agent));
    return json(site.get("/api/agents/" + agent).body());
  }

  private static boolean ends(Entry entry, String agent) {
    return entry.taskId() != null
        && entry.taskId().value().equals(agent)
        && (entry.event() instanceof dev.parley.protocol.TaskEvent.TaskComplete
            || (entry.event() instanceof dev.parley.protocol.TaskEvent.TaskStatus status
                && status.status().terminal()
                && status.status() != dev.parley.protocol.TaskState.COMPLETED));
  }

  private static ContextId context(Site site, String agent) {
    return new ContextId(
        json(site.get("/api/agents/" + agent).body()).path("session").path("id").asString());
  }

  private static List<JsonNode> messages(Site site, String agent) {
    return json(site.get("/api/agents/" + agent + "/messages").body()).valueStream().toList();
  }

  private static String deltas(List<JsonNode> messages) {
    return messages.stream()
        .filter(m -> m.path("metadata").path("eventType").asString("").equals("content_delta"))
        .map(m -> m.path("content").asString())
        .reduce("", String::concat);
  }

  private static JsonNode json(String text) {
    return Json.mapper().readTree(text);
  }
}
