package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.WebSocketTestClient;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// A hundred contexts at once over all APIs: everybody gets their own and nothing else, and what two APIs
/// show of one context agrees piece by piece (CHAT-14, CHAT-27, AGENT-61, AGENT-85, CORE-1, CORE-6).
@Timeout(180)
class ContextIsolationTest {

  private static final int CONTEXTS = 100;

  @TempDir Path folder;
  private TestServer testServer;
  private ChatTestClient chatTestClient;

  @BeforeEach
  void open() {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL);
    chatTestClient = new ChatTestClient(testServer);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void each_reader_gets_its_own_and_all_apis_agree() throws Exception {
    for (var i = 0; i < CONTEXTS; i++) {
      testServer.context(name(i));
    }
    var heard = new HashMap<Integer, List<String>>();
    var socketed = IntStream.range(0, CONTEXTS).filter(i -> i % 3 == 2).boxed().toList();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor();
        var socket = new WebSocketTestClient(testServer.url.getPort(), "/api/ws")) {
      for (var i : socketed) {
        socket.send("{\"type\":\"subscribe\",\"contextId\":\"%s\"}".formatted(name(i)));
      }
      var readers = new HashMap<Integer, Future<List<String>>>();
      for (var i = 0; i < CONTEXTS; i++) {
        var reader = reader(i);
        if (reader != null) {
          readers.put(i, threads.submit(reader));
        }
      }
      var sayings = new ArrayList<Future<?>>();
      for (var i = 0; i < CONTEXTS; i++) {
        var context = i;
        sayings.add(threads.submit(() -> say(context)));
      }
      for (var saying : sayings) {
        saying.get();
      }
      heard.putAll(bySocket(socket, socketed));
      for (var reader : readers.entrySet()) {
        heard.put(reader.getKey(), reader.getValue().get());
      }
    }
    for (var i = 0; i < CONTEXTS; i++) {
      var pieces = pieces(i);
      assertThat(String.join("", pieces)).isEqualTo(words(i));
      assertThat(heard.get(i)).as(name(i)).isEqualTo(pieces);
      assertThat(byChat(i)).isEqualTo(pieces);
      assertThat(byAgents(i)).isEqualTo(pieces);
    }
  }

  @Test
  void nobody_who_leaves_stops_anything_and_one_who_comes_back_can() throws Exception {
    var sent = chatTestClient.say("count slowly to 400");
    String last;
    try (var reader = chatTestClient.stream(sent.conversationId())) {
      last = ChatTestClient.until(reader, f -> "task_output".equals(f.event())).getLast().id();
    }
    try (var reader = testServer.stream("/api/contexts/" + sent.conversationId() + "/stream")) {
      assertThat(reader.nextEvent()).isNotNull();
    }
    try (var socket = new WebSocketTestClient(testServer.url.getPort(), "/api/agents/ws")) {
      socket.send(
          "{\"event\":\"subscribe\",\"data\":{\"agentId\":\"%s\"}}".formatted(sent.taskId()));
      while (!socket.json().path("event").asString("").equals("agent:message")) {
        // Until it speaks.
      }
    }
    try (var resumed =
        chatTestClient.stream(sent.conversationId(), "Last-Event-ID", String.valueOf(last))) {
      assertThat(ChatTestClient.until(resumed, f -> "task_output".equals(f.event()))).isNotEmpty();
      assertThat(chatTestClient.send("DELETE", "/chat/tasks/" + sent.taskId(), "").statusCode())
          .isEqualTo(200);
      var rest = ChatTestClient.until(resumed, f -> ChatTestClient.ends(f, sent));
      assertThat(rest.getLast().event()).isEqualTo("task_cancelled");
    }
  }

  private static String name(int i) {
    return "x" + i;
  }

  private static String words(int i) {
    return "m" + i + "m one two three four five six seven eight nine ten";
  }

  /// Says something through one of three APIs.
  private void say(int i) {
    var text = "say " + words(i);
    var reply =
        switch (i / 3 % 3) {
          case 0 ->
              chatTestClient.post(
                  Json.object()
                      .put("conversationId", name(i))
                      .put("content", text)
                      .put("agentId", "agent-code"));
          case 1 -> {
            var body = Json.object().put("type", "agent-code").put("prompt", text);
            body.putObject("configuration").put("sessionId", name(i));
            yield testServer.post("/api/agents", body.toString());
          }
          default ->
              testServer.post(
                  "/api/contexts/" + name(i) + "/messages",
                  Json.object().put("content", text).put("agentId", "agent-code").toString());
        };
    assertThat(reply.statusCode()).as(reply.body()).isBetween(200, 202);
  }

  /// Reads the context's text live, by SSE of one of two APIs; those who use the socket are not here.
  private Callable<List<String>> reader(int i) throws IOException {
    return switch (i % 3) {
      case 0 -> {
        var reader = testServer.stream("/api/contexts/" + name(i) + "/stream");
        yield () -> {
          try (reader) {
            var pieces = new ArrayList<String>();
            for (var f = reader.nextEvent(); f != null; f = reader.nextEvent()) {
              if ("content-delta".equals(f.event())) {
                pieces.add(f.json().path("delta").asString());
              } else if ("task-complete".equals(f.event())) {
                return pieces;
              }
            }
            throw new AssertionError("the stream ended");
          }
        };
      }
      case 1 -> {
        var reader = chatTestClient.stream(name(i));
        yield () -> {
          try (reader) {
            return outputs(ChatTestClient.until(reader, ChatTestClient::ends));
          }
        };
      }
      default -> null;
    };
  }

  private static List<String> outputs(List<EventReader.Frame> frames) {
    return ChatTestClient.all(frames, "task_output").stream()
        .filter(json -> json.path("partial").asBoolean())
        .map(json -> json.path("content").asString())
        .toList();
  }

  private static Map<Integer, List<String>> bySocket(
      WebSocketTestClient socket, List<Integer> contexts) throws InterruptedException {
    var heard = new HashMap<Integer, List<String>>();
    contexts.forEach(i -> heard.put(i, new ArrayList<>()));
    for (var open = contexts.size(); open > 0; ) {
      var said = socket.json();
      if (said.path("type").asString("").equals("event")) {
        var i = Integer.parseInt(said.path("contextId").asString().substring(1));
        var event = said.path("event");
        assertThat(event.path("contextId").asString()).isEqualTo(name(i));
        switch (event.path("kind").asString()) {
          case "content-delta" -> heard.get(i).add(event.path("delta").asString());
          case "task-complete" -> open--;
          default -> {} // Not text.
        }
      }
    }
    return heard;
  }

  private List<String> pieces(int i) {
    var events =
        Json.mapper()
            .readTree(testServer.get("/api/contexts/" + name(i) + "/events?limit=1000").body())
            .path("events");
    return texts(events, "/kind", "content-delta", "/delta");
  }

  private List<String> byChat(int i) throws IOException {
    try (var reader = chatTestClient.stream(name(i))) {
      return outputs(ChatTestClient.until(reader, ChatTestClient::ends));
    }
  }

  private List<String> byAgents(int i) {
    var tasks =
        Json.mapper().readTree(testServer.get("/api/contexts/" + name(i) + "/tasks").body());
    var agent = tasks.at("/items/0/taskId").asString();
    var messages =
        Json.mapper().readTree(testServer.get("/api/agents/" + agent + "/messages").body());
    return texts(messages, "/metadata/eventType", "content_delta", "/content");
  }

  private static List<String> texts(JsonNode list, String key, String wanted, String text) {
    return list.valueStream()
        .filter(json -> json.at(key).asString("").equals(wanted))
        .map(json -> json.at(text).asString())
        .toList();
  }
}
