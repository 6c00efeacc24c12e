package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Agents that break, lie or are not what they were: by hand, as no SDK does this.
@Timeout(60)
class MisbehavingRemoteAgentTest {

  private static final String STATUS =
      """
      {"statusUpdate":{"taskId":"t1","contextId":"x1","status":{"state":"TASK_STATE_%s"}}}\
      """;

  @TempDir Path folder;
  private HttpServer server;
  private final LinkedBlockingQueue<String> asked = new LinkedBlockingQueue<>();
  private final AtomicInteger sends = new AtomicInteger();

  private interface Answer {
    void give(HttpExchange exchange, JsonNode params) throws IOException;
  }

  @BeforeEach
  void open() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.start();
  }

  @AfterEach
  void close() {
    server.stop(0);
  }

  private String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private RemoteAgentTestBed scene(String more) {
    return new RemoteAgentTestBed(folder, RemoteAgentTestBed.peer(url(), more));
  }

  /// Serves a card, with these headers, and the methods by their names.
  private void serve(Answer answer, String... headers) {
    server.createContext(
        "/.well-known/agent-card.json",
        exchange -> {
          asked.add("card " + exchange.getRequestHeaders().getFirst("If-None-Match"));
          for (var i = 0; i < headers.length; i += 2) {
            exchange.getResponseHeaders().add(headers[i], headers[i + 1]);
          }
          if (exchange.getRequestHeaders().containsKey("If-None-Match")) {
            exchange.sendResponseHeaders(304, -1);
            exchange.close();
            return;
          }
          json(
              exchange,
              """
              {"name":"odd","capabilities":{"streaming":true},"supportedInterfaces":[\
              {"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}\
              """
                  .formatted(url()));
        });
    server.createContext(
        "/rpc",
        exchange -> {
          var body = Json.mapper().readTree(exchange.getRequestBody().readAllBytes());
          var last = exchange.getRequestHeaders().getFirst("Last-Event-ID");
          asked.add(body.path("method").asString() + (last == null ? "" : " after " + last));
          answer.give(exchange, body);
          exchange.close();
        });
  }

  private static void json(HttpExchange exchange, String text) throws IOException {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private static void result(HttpExchange exchange, String text) throws IOException {
    json(exchange, "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":" + text + "}");
  }

  private static void stream(HttpExchange exchange, String... frames) throws IOException {
    exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    for (var frame : frames) {
      exchange.getResponseBody().write(frame.getBytes(StandardCharsets.UTF_8));
      exchange.getResponseBody().flush();
    }
  }

  private static String frame(int id, String result) {
    return "id: " + id + "\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":" + result + "}\n\n";
  }

  private static String task(String state, String text, String message) {
    return """
    {"id":"t1","contextId":"x1","status":{"state":"TASK_STATE_%s"},"artifacts":[{"artifactId":"a",\
    "parts":[{"text":"%s"}]}],"history":[{"messageId":"%s","role":"ROLE_USER","parts":[{"text":"hi"}]}]}\
    """
        .formatted(state, text, message);
  }

  private static String said(String text, boolean append) {
    return """
    {"artifactUpdate":{"taskId":"t1","contextId":"x1","append":%s,"artifact":{"artifactId":"a",\
    "parts":[{"text":"%s"}]}}}\
    """
        .formatted(append, text);
  }

  @Test
  void a_message_of_which_nothing_is_heard_is_looked_for_and_not_sent_twice() throws Exception {
    var id = new LinkedBlockingQueue<String>();
    serve(
        (exchange, body) -> {
          switch (body.path("method").asString()) {
            case "SendStreamingMessage" ->
                id.add(body.path("params").path("message").path("messageId").asString());
            case "ListTasks" ->
                result(exchange, "{\"tasks\":[" + task("WORKING", "", id.peek()) + "]}");
            case "GetTask" -> result(exchange, task("COMPLETED", "done once", id.peek()));
            default -> stream(exchange);
          }
        });
    try (var scene = scene("")) {
      assertThat(scene.ask(RemoteAgentTestBed.context(), "hi")).isEqualTo("done once");
      assertThat(id).hasSize(1);
    }
  }

  @Test
  void a_message_that_did_not_arrive_is_sent_again_under_its_id() throws Exception {
    var ids = new LinkedBlockingQueue<String>();
    serve(
        (exchange, body) -> {
          switch (body.path("method").asString()) {
            case "SendStreamingMessage" -> {
              ids.add(body.path("params").path("message").path("messageId").asString());
              if (sends.incrementAndGet() > 1) {
                stream(exchange, frame(1, "{\"task\":" + task("COMPLETED", "now", "m") + "}"));
              }
            }
            default -> result(exchange, "{\"tasks\":[" + task("COMPLETED", "x", "another") + "]}");
          }
        });
    try (var scene = scene("")) {
      assertThat(scene.ask(RemoteAgentTestBed.context(), "hi")).isEqualTo("now");
      assertThat(ids).hasSize(2);
      assertThat(ids.take()).isEqualTo(ids.take());
    }
  }

  @Test
  void events_with_ids_are_taken_up_after_the_last_one() throws Exception {
    serve(
        (exchange, body) -> {
          switch (body.path("method").asString()) {
            case "SendStreamingMessage" ->
                stream(
                    exchange,
                    frame(1, "{\"task\":" + task("WORKING", "", "m") + "}"),
                    frame(2, said("one ", false)),
                    frame(3, said("one ", true)));
            case "SubscribeToTask" ->
                stream(
                    exchange, frame(4, said("two", true)), frame(5, STATUS.formatted("COMPLETED")));
            default -> throw new AssertionError(body);
          }
        });
    try (var scene = scene("")) {
      assertThat(scene.ask(RemoteAgentTestBed.context(), "hi")).isEqualTo("one one two");
      assertThat(asked).contains("SubscribeToTask after 3");
    }
  }

  @Test
  void ids_that_mean_nothing_are_not_relied_on() throws Exception {
    serve(
        (exchange, body) -> {
          switch (body.path("method").asString()) {
            case "SendStreamingMessage" ->
                stream(
                    exchange,
                    frame(1, "{\"task\":" + task("WORKING", "", "m") + "}"),
                    frame(2, said("one ", false)));
            // It begins with the task, and says again what that has already.
            case "SubscribeToTask" ->
                stream(
                    exchange,
                    frame(1, "{\"task\":" + task("WORKING", "one two ", "m") + "}"),
                    frame(2, said("two ", true)),
                    frame(3, STATUS.formatted("COMPLETED")));
            case "GetTask" -> result(exchange, task("COMPLETED", "one two three", "m"));
            default -> throw new AssertionError(body);
          }
        });
    try (var scene = scene("")) {
      var context = RemoteAgentTestBed.context();
      assertThat(scene.ask(context, "hi")).isEqualTo("one two three");
      assertThat(scene.text(context)).isEqualTo("one two three");
    }
  }

  @Test
  void text_that_is_replaced_says_so() throws Exception {
    serve(
        (exchange, _) ->
            stream(
                exchange,
                frame(1, "{\"task\":" + task("WORKING", "", "m") + "}"),
                frame(2, said("wrong", false)),
                frame(3, said("right", false)),
                frame(4, STATUS.formatted("COMPLETED"))));
    try (var scene = scene("")) {
      var context = RemoteAgentTestBed.context();
      assertThat(scene.ask(context, "hi")).isEqualTo("right");
      var blocks = scene.blocks(context);
      assertThat(blocks).extracting(block -> block.content()).containsExactly("wrong", "right");
      assertThat(blocks.getLast().replaces()).isEqualTo(blocks.getFirst().blockId());
    }
  }

  @Test
  void a_card_is_kept_as_long_as_it_says_and_asked_for_by_its_tag() throws Exception {
    serve(
        (exchange, _) ->
            stream(exchange, frame(1, "{\"task\":" + task("COMPLETED", "x", "m") + "}")),
        "ETag",
        "\"v1\"",
        "Cache-Control",
        "no-cache");
    try (var scene = scene("")) {
      scene.ask(RemoteAgentTestBed.context(), "hi");
      scene.ask(RemoteAgentTestBed.context(), "hi");
      assertThat(asked).contains("card null", "card \"v1\"");
      assertThat(asked.stream().filter("card null"::equals)).hasSize(1);
    }
  }

  @Test
  void headers_go_to_the_agent_and_nowhere_else() throws Exception {
    var thief = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    var stolen = new LinkedBlockingQueue<String>();
    thief.createContext(
        "/",
        exchange -> {
          stolen.add(exchange.getRequestHeaders().entrySet().toString());
          exchange.sendResponseHeaders(404, -1);
          exchange.close();
        });
    thief.start();
    var given = new LinkedBlockingQueue<String>();
    serve(
        (exchange, _) -> {
          given.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
          exchange
              .getResponseHeaders()
              .add("Location", "http://127.0.0.1:" + thief.getAddress().getPort() + "/rpc");
          exchange.sendResponseHeaders(307, -1);
        });
    try (var scene = scene(", token: secret-token")) {
      var context = RemoteAgentTestBed.context();
      assertThat(scene.failure(context, scene.say(context, "peer", "hi")))
          .contains("which is not followed");
      assertThat(given).containsOnly("Bearer secret-token");
      assertThat(stolen).isEmpty();
      assertThat(scene.entries(context).toString()).doesNotContain("secret-token");
    } finally {
      thief.stop(0);
    }
  }

  @Test
  void what_makes_no_sense_is_a_failure_that_says_so() throws Exception {
    var answers = new LinkedBlockingQueue<String>();
    serve((exchange, _) -> json(exchange, String.valueOf(answers.poll())));
    for (var odd :
        List.of(
            "not json",
            "[]",
            "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"error\":{\"code\":-32600,\"message\":\"no\"}}",
            "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{\"task\":{\"id\":7}}}")) {
      answers.add(odd);
      try (var scene =
          new RemoteAgentTestBed(
              folder.resolve("n" + sends.incrementAndGet()), RemoteAgentTestBed.peer(url(), ""))) {
        var context = RemoteAgentTestBed.context();
        assertThat(scene.failure(context, scene.say(context, "peer", "hi")))
            .as(odd)
            .startsWith("the agent behind " + url() + ": it ");
      }
    }
  }

  @Test
  void who_is_not_there_or_refuses_us_is_a_failure_that_says_so() throws Exception {
    serve((exchange, _) -> exchange.sendResponseHeaders(401, -1));
    try (var scene = scene("")) {
      var context = RemoteAgentTestBed.context();
      var task = scene.say(context, "peer", "hi");
      assertThat(scene.failure(context, task)).contains("it answered 401");
    }
    try (var scene =
        new RemoteAgentTestBed(
            folder.resolve("none"), RemoteAgentTestBed.peer("http://127.0.0.1:1", ""))) {
      var context = RemoteAgentTestBed.context();
      assertThat(scene.failure(context, scene.say(context, "peer", "hi")))
          .contains("cannot be reached");
    }
  }
}
