package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelServer;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskId;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// What people edited or deleted stays so, whatever happens to the conversation.
@Timeout(120)
class CorrectionTest {

  private static final String MESSAGES = "/api/contexts/c/messages";

  @TempDir Path folder;
  private FakeModelServer model;
  private TestServer testServer;

  @BeforeEach
  void open() {
    model = FakeModelServer.answering(_ -> FakeModelAnswer.saying("understood"));
    testServer =
        TestServer.durable(
            folder,
            TestServer.Wish.USUAL,
            """
            models: {m: {provider: openai, model: m, baseUrl: '%s', apiKey: none}}
            agents: [{id: agent-code, tools: []}]
            limits: {historyTokens: 1000}
            """
                .formatted(model.url()));
    testServer.post("/api/contexts", "{\"contextId\":\"c\"}");
  }

  @AfterEach
  void close() {
    testServer.close();
    model.close();
  }

  private static JsonNode json(HttpResponse<String> reply) {
    assertThat(reply.statusCode()).as(reply.body()).isBetween(200, 299);
    return Json.mapper().readTree(reply.body());
  }

  private JsonNode say(String context, String text) throws InterruptedException {
    var body = Json.object().put("content", text).put("agentId", "agent-code").toString();
    return ended(context, json(testServer.post("/api/contexts/" + context + "/messages", body)));
  }

  private JsonNode ended(String context, JsonNode accepted) throws InterruptedException {
    var id = new ContextId(context);
    var task = new TaskId(accepted.path("taskId").asString());
    var at = Position.of(accepted.path("seq").asLong(0));
    for (var over = false; !over; ) {
      assertThat(testServer.log.await(id, at, Duration.ofSeconds(60))).isTrue();
      for (var entry : testServer.log.read(id, at, 100)) {
        at = entry.position();
        over |= task.equals(entry.taskId()) && entry.event() instanceof TaskComplete;
      }
    }
    return accepted;
  }

  private void delete(JsonNode accepted) {
    var path = MESSAGES + "/" + accepted.path("messageId").asString();
    assertThat(testServer.send(testServer.request(path).DELETE()).statusCode()).isEqualTo(204);
  }

  private List<String> messages(String context) {
    return json(testServer.get("/api/contexts/" + context + "/messages"))
        .path("items")
        .valueStream()
        .map(message -> message.path("content").asString())
        .toList();
  }

  private String prompt() {
    return model.lastRequest().body().path("messages").toString();
  }

  @Test
  void a_deleted_message_stays_deleted_when_a_later_one_is_run_again() throws Exception {
    var first = say("c", "my secret is 42");
    var second = say("c", "hello");
    delete(first);

    var again =
        new ChatTestClient(testServer)
            .send(
                "PATCH",
                "/chat/conversations/c/messages/" + second.path("messageId").asString(),
                "{\"content\":\"hello again\",\"rerun\":true}");
    ended("c", json(again));

    assertThat(messages("c")).containsExactly("understood", "hello again", "understood");
    assertThat(prompt()).contains("hello again").doesNotContain("secret");
    assertThat(json(testServer.get("/api/contexts/c")).path("title").asString())
        .isEqualTo("hello again");
  }

  @Test
  void a_summary_of_a_deleted_message_is_told_no_more() throws Exception {
    var first = say("c", "my secret is 42");
    for (var i = 0; i < 12; i++) {
      say("c", "filler " + i + " " + "x".repeat(400));
    }
    assertThat(messages("c")).anyMatch(text -> text.startsWith("Summary of earlier messages"));
    delete(first);

    say("c", "and now?");

    assertThat(messages("c")).noneMatch(text -> text.contains("secret"));
    assertThat(prompt()).contains("and now?").doesNotContain("secret");
  }

  @Test
  void a_fork_at_an_earlier_event_has_no_text_that_was_deleted_before_it_was_made()
      throws Exception {
    var first = say("c", "my secret is 42");
    var second = say("c", "hello");
    delete(first);

    var at = second.path("seq").asLong() - 1;
    json(testServer.post("/api/contexts/c/fork", "{\"contextId\":\"f\",\"atSeq\":" + at + "}"));
    say("f", "another way");

    assertThat(messages("f")).containsExactly("understood", "another way", "understood");
    assertThat(prompt()).doesNotContain("secret");
    assertThat(testServer.get("/api/contexts/f/snapshot").body()).doesNotContain("secret");
    assertThat(testServer.get("/api/contexts/f/snapshot?at=" + at).body()).doesNotContain("secret");
  }

  @Test
  void the_log_keeps_deleted_text_and_corrected_events_leave_it_out() throws Exception {
    var first = say("c", "my secret is 42");
    delete(first);

    assertThat(testServer.get("/api/contexts/c/events").body()).contains("my secret is 42");
    var corrected = testServer.get("/api/contexts/c/events?corrected=true").body();
    assertThat(corrected).doesNotContain("secret").contains("understood", "message-deleted");
  }

  @Test
  void the_messages_of_an_agent_have_no_deleted_text_merged_or_not() throws Exception {
    var first = say("c", "my secret is 42");
    var answer = json(testServer.get(MESSAGES)).path("items").path(1).path("messageId").asString();
    delete(first);
    delete(Json.object().put("messageId", answer));

    var path = "/api/agents/" + first.path("taskId").asString() + "/messages";
    for (var query : List.of("", "?aggregate=true")) {
      assertThat(testServer.get(path + query).body())
          .contains("\"type\":\"assistant\"")
          .doesNotContain("secret", "understood");
    }
  }

  @Test
  void a_removed_task_stays_removed_after_a_rewind_and_in_a_fork() throws Exception {
    var first = say("c", "my secret is 42");
    var task = first.path("taskId").asString();
    var head = testServer.log.head(new ContextId("c")).seq();
    assertThat(testServer.send(testServer.request("/api/tasks/" + task).DELETE()).statusCode())
        .isEqualTo(204);

    json(testServer.post("/api/contexts/c/rewind", "{\"toSeq\":" + head + "}"));
    json(testServer.post("/api/contexts/c/fork", "{\"contextId\":\"f\",\"atSeq\":" + head + "}"));

    for (var context : List.of("c", "f")) {
      assertThat(messages(context)).isEmpty();
      var tasks = json(testServer.get("/api/contexts/" + context + "/tasks")).path("items");
      assertThat(tasks).as(context).isEmpty();
    }
  }
}
