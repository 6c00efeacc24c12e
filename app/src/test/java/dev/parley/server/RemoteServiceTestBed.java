package dev.parley.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// A service elsewhere that runs agents, as well or badly as a test says, and a server here that uses it.
class RemoteServiceTestBed {

  static final String START =
      line(
              """
              {"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}\
              """)
          + line(
              """
              {"type":"stream_event","event":{"type":"content_block_start","index":0,\
              "content_block":{"type":"text"}}}\
              """);
  static final String DELTA =
      line(
          """
          {"type":"stream_event","event":{"type":"content_block_delta","index":0,\
          "delta":{"type":"text_delta","text":"Hello"}}}\
          """);
  static final String HELLO = START + DELTA;
  static final String RESULT =
      line(
          """
          {"type":"result","subtype":"success","is_error":false,"result":"Hello"}\
          """);
  static final String COMPLETE =
      """
      event: complete
      data: {"status":"success","duration":5,"messageCount":4}

      """;

  static String line(String json) {
    return "event: message\ndata: " + json + "\n\n";
  }

  @TempDir Path folder;
  HttpServer service;
  final LinkedBlockingQueue<String> asked = new LinkedBlockingQueue<>();
  final CountDownLatch over = new CountDownLatch(1);

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

  interface Answer {
    void give(HttpExchange exchange) throws IOException;
  }

  void on(String path, Answer answer) {
    service.createContext(
        path,
        exchange -> {
          var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " " + body);
          answer.give(exchange);
          exchange.close();
        });
  }

  static void stream(HttpExchange exchange, String... frames) throws IOException {
    exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    for (var frame : frames) {
      exchange.getResponseBody().write(frame.getBytes(StandardCharsets.UTF_8));
      exchange.getResponseBody().flush();
    }
  }

  TestServer near(String url) throws IOException {
    return near(url, "10s");
  }

  TestServer near(String url, String silence) throws IOException {
    var here = Files.createDirectories(folder.resolve("near"));
    return TestServer.configured(
        here, "agents: [{id: far, type: proxy, url: \"" + url + "\", silence: " + silence + "}]\n");
  }

  String url() {
    return "http://127.0.0.1:" + service.getAddress().getPort();
  }

  static String launch(TestServer testServer, String prompt) {
    var body = Json.object().put("type", "far").put("prompt", prompt).toString();
    return json(testServer.post("/api/agents", body).body()).path("agentId").asString();
  }

  static JsonNode ended(TestServer testServer, String agent) throws InterruptedException {
    ModelInstructions.await(
        testServer.log, context(testServer, agent), entry -> ends(entry, agent));
    return json(testServer.get("/api/agents/" + agent).body());
  }

  static boolean ends(Entry entry, String agent) {
    return entry.taskId() != null
        && entry.taskId().value().equals(agent)
        && (entry.event() instanceof dev.parley.protocol.TaskEvent.TaskComplete
            || (entry.event() instanceof dev.parley.protocol.TaskEvent.TaskStatus status
                && status.status().terminal()
                && status.status() != dev.parley.protocol.TaskState.COMPLETED));
  }

  static ContextId context(TestServer testServer, String agent) {
    return new ContextId(
        json(testServer.get("/api/agents/" + agent).body()).path("session").path("id").asString());
  }

  static List<JsonNode> messages(TestServer testServer, String agent) {
    return json(testServer.get("/api/agents/" + agent + "/messages").body()).valueStream().toList();
  }

  static String deltas(List<JsonNode> messages) {
    return messages.stream()
        .filter(m -> m.path("metadata").path("eventType").asString("").equals("content_delta"))
        .map(m -> m.path("content").asString())
        .reduce("", String::concat);
  }

  static JsonNode json(String text) {
    return Json.mapper().readTree(text);
  }
}
