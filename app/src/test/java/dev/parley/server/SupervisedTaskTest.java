package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/// What the APIs show of a task that the supervisor handed to others.
@Timeout(60)
class SupervisedTaskTest {

  @TempDir Path folder;

  private TestServer testServer;
  private ChatTestClient chatTestClient;

  @BeforeEach
  void open() {
    testServer = TestServer.open(folder);
    chatTestClient = new ChatTestClient(testServer);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void EVENT_45_its_end_lists_the_artifacts_of_the_tasks_below() throws Exception {
    var sent = chatTestClient.say("write a report on tea");
    chatTestClient.follow(sent);

    var artifacts = chatTestClient.read(path(sent, "/artifacts")).path("items");
    assertThat(artifacts.size()).isOne();
    var id = artifacts.get(0).path("artifactId").asString();
    assertThat(end(sent).path("artifacts").toString()).isEqualTo("[\"" + id + "\"]");
    var task = chatTestClient.read(path(sent, "/tasks/" + sent.taskId()));
    assertThat(task.path("artifacts").toString()).isEqualTo("[\"" + id + "\"]");
    var result = chatTestClient.read("/chat/tasks/" + sent.taskId()).path("result");
    assertThat(result.path("artifacts").get(0).path("id").asString()).isEqualTo(id);
  }

  @Test
  void EVENT_12_every_sum_of_a_context_is_the_same_and_nothing_counts_twice() throws Exception {
    var sent =
        chatTestClient.sent(
            Json.object().put("content", "delegate say hello to research and writer"));
    var completed = chatTestClient.follow(sent).getLast().json();

    var used = chatTestClient.read(path(sent, "/usage")).path("items").get(0);
    assertThat(used.path("inputTokens").asLong()).isPositive();
    check(end(sent).path("metadata").path("usage"), used);
    check(
        last(chatTestClient.read(path(sent, "/messages")).path("items")).path("metadata"),
        "usage",
        used);
    check(last(chatTestClient.messages(sent.conversationId())).path("metadata"), "usage", used);
    check(completed.path("metadata"), "usage", used);
    var result = chatTestClient.read("/chat/tasks/" + sent.taskId()).path("result");
    check(result, "usage", used);
    check(result.path("modelUsage"), "offline", used);
    assertThat(end(sent).path("metadata").path("tokensUsed").asLong())
        .isEqualTo(used.path("inputTokens").asLong() + used.path("outputTokens").asLong());
  }

  @Test
  void EVENT_8_a_task_is_created_with_its_agent_and_its_model() throws Exception {
    var sent = chatTestClient.say("say hello");
    chatTestClient.follow(sent);

    var created = chatTestClient.read(path(sent, "/events?kinds=task-created")).path("events");
    assertThat(created.get(0).path("metadata").path("agentId").asString()).isEqualTo("supervisor");
    // Rules decide here, so there is no model.
    assertThat(created.get(0).path("metadata").has("model")).isFalse();
    var below = created.get(1);
    assertThat(below.path("metadata").path("agentId")).isEqualTo(below.path("agentId"));
    assertThat(below.path("metadata").path("model").asString()).isEqualTo("offline");
  }

  @Test
  void a_message_without_an_agent_costs_at_most_16_events() throws Exception {
    var sent = chatTestClient.say("say hi");
    chatTestClient.follow(sent);

    var events = chatTestClient.read(path(sent, "/events?internal=true&limit=100")).path("events");
    assertThat(events.valueStream().map(event -> event.path("kind").asString()))
        .containsExactly(
            "context-created",
            "message",
            "task-created",
            "task-status",
            "subtask-created",
            "task-created",
            "task-status",
            "internal:llm-call",
            "content-delta",
            "content-complete",
            "usage",
            "task-status",
            "task-complete",
            "subtask-complete",
            "message",
            "task-status",
            "task-complete");
    // The first event is the context's.
    assertThat(events.size() - 1).isLessThanOrEqualTo(16);
  }

  /// Messages that take quadratic time or more in a matcher that tries all combinations.
  static Stream<String> runaways() {
    return Stream.of(
        "delegate" + " ".repeat(200_000) + "x", "delegate a" + " to a".repeat(40_000) + "@");
  }

  @ParameterizedTest
  @MethodSource("runaways")
  void rules_read_a_long_message_without_running_away(String text) throws Exception {
    var sent = chatTestClient.say(text);

    // The time-out of this class is far less than what such a matcher would need.
    assertThat(chatTestClient.follow(sent).getLast().event()).isEqualTo("completed");
    var routed =
        chatTestClient.read(path(sent, "/events?kinds=task-status")).path("events").toString();
    assertThat(routed).contains("the fallback agent acts");
  }

  private static void check(JsonNode shown, String field, JsonNode used) {
    check(shown.path(field), used);
  }

  private static void check(JsonNode usage, JsonNode used) {
    assertThat(usage.path("inputTokens")).isEqualTo(used.path("inputTokens"));
    assertThat(usage.path("outputTokens")).isEqualTo(used.path("outputTokens"));
  }

  private JsonNode end(ChatTestClient.Sent sent) {
    var ends = chatTestClient.read(path(sent, "/events?kinds=task-complete")).path("events");
    return last(ends);
  }

  private static JsonNode last(JsonNode list) {
    assertThat(list.size()).isPositive();
    return list.path(list.size() - 1);
  }

  private static String path(ChatTestClient.Sent sent, String rest) {
    return "/api/contexts/" + sent.conversationId() + rest;
  }
}
