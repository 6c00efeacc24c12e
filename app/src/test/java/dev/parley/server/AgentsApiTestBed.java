package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// A server with the agents API, on the real store, and short words for what tests do there.
class AgentsApiTestBed {

  @TempDir Path folder;
  TestServer site;

  @BeforeEach
  void open() {
    site = TestServer.durable(folder, TestServer.Wish.USUAL.heartbeat(Duration.ofSeconds(1)));
  }

  @AfterEach
  void close() {
    site.close();
  }

  ContextId context(String agent) {
    return new ContextId(
        json(site.get("/api/agents/" + agent)).path("session").path("id").asString());
  }

  void awaitEnd(String agent) throws InterruptedException {
    var task = new TaskId(agent);
    ModelInstructions.await(
        site.log,
        context(agent),
        entry ->
            task.equals(entry.taskId())
                && (entry.event() instanceof dev.parley.protocol.TaskEvent.TaskComplete
                    || (entry.event() instanceof dev.parley.protocol.TaskEvent.TaskStatus status
                        && status.status().terminal()
                        && status.status() != dev.parley.protocol.TaskState.COMPLETED)));
  }

  HttpResponse<String> launch(String type, String prompt) {
    return site.post("/api/agents", body(type, prompt, "{}"));
  }

  static String body(String type, String prompt, String configuration) {
    var body = Json.object().put("type", type).put("prompt", prompt);
    body.set("configuration", tree(configuration));
    return body.toString();
  }

  List<JsonNode> messages(String agent, String query) {
    var reply = site.get("/api/agents/" + agent + "/messages" + query);
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return json(reply).valueStream().toList();
  }

  static List<Long> numbers(List<JsonNode> messages) {
    return messages.stream().map(m -> m.path("sequenceNumber").asLong()).toList();
  }

  static List<Long> from(long first, long last) {
    return LongStream.rangeClosed(first, last).boxed().toList();
  }

  static String text(List<JsonNode> messages) {
    return messages.stream()
        .filter(m -> m.path("metadata").path("eventType").asString("").equals("content_delta"))
        .filter(m -> !m.path("metadata").path("subagent").asBoolean(false))
        .map(m -> m.path("content").asString())
        .reduce("", String::concat);
  }

  interface Making {
    String make(int i) throws Exception;
  }

  static List<String> atOnce(int count, Making making) throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Stream<Callable<String>> calls =
          IntStream.range(0, count).mapToObj(i -> () -> making.make(i));
      var made = new ArrayList<String>();
      for (var future : threads.invokeAll(calls.toList())) {
        made.add(future.get());
      }
      return made;
    }
  }

  HttpResponse<String> delete(String path) {
    return site.send(site.request(path).DELETE());
  }

  static String id(HttpResponse<String> launched) {
    assertThat(launched.statusCode()).as(launched.body()).isEqualTo(201);
    return json(launched).path("agentId").asString();
  }

  static JsonNode json(HttpResponse<String> reply) {
    return tree(reply.body());
  }

  static JsonNode tree(String json) {
    return Json.mapper().readTree(json);
  }
}
