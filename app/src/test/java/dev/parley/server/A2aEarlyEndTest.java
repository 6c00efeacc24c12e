package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.model.FakeModelServer;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// Answers that a model ends before they are complete say so in A2A.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class A2aEarlyEndTest {

  private FakeModelServer model;
  private TestServer testServer;

  @BeforeAll
  void open(@TempDir Path folder) {
    model =
        FakeModelServer.answering(
            receivedRequest ->
                switch (receivedRequest.lastText()) {
                  case "long" -> FakeModelAnswer.of(FakeModelAnswer.text("a", "b"), stop("length"));
                  case "cut" ->
                      FakeModelAnswer.of(FakeModelAnswer.text("c"), stop("content_filter"));
                  case "silent" -> FakeModelAnswer.of(stop("stop"));
                  case "empty" -> FakeModelAnswer.of(stop("content_filter"));
                  default -> FakeModelAnswer.saying("whole");
                });
    testServer =
        TestServer.durable(
            folder,
            TestServer.Wish.USUAL,
            """
            models: {m: {provider: openai, model: m, baseUrl: '%s', apiKey: none}}
            agents: [{id: helper, tools: []}]
            """
                .formatted(model.url()));
  }

  @AfterAll
  void close() {
    testServer.close();
    model.close();
  }

  private static Step stop(String reason) {
    return new Step.Stop(reason);
  }

  @ParameterizedTest
  @CsvSource({
    "0.3, long, length, ab",
    "1.0, long, length, ab",
    "0.3, cut, content-filter, c",
    "1.0, cut, content-filter, c"
  })
  void the_last_status_and_the_task_have_the_reason(
      String version, String words, String reason, String text) throws IOException {
    var peer = new A2aTestClient(testServer, "helper", version);
    var frames = peer.stream(peer.streaming(), peer.say(words + "-" + version, words));

    var last = frames.getLast().result();
    var update = peer.modern() ? last.path("statusUpdate") : last;
    assertThat(update.path("status").path("state").asString()).isEqualTo(peer.state("completed"));
    assertReason(update.path("metadata"), reason);
    var id = update.path("taskId").asString();
    var task = peer.result(peer.getting(), A2aTestClient.id(id));
    assertReason(task.path("metadata"), reason);
    assertThat(A2aTestClient.text(task)).isEqualTo(text);
    var explained = task.path("status").path("message").path("parts").path(0).path("text");
    // Clients would take it for the answer.
    assertThat(explained.isMissingNode()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void an_answer_without_any_text_is_a_failure_that_says_why(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);
    var task = peer.send(peer.say("empty-" + version, "empty"));

    var status = task.path("status");
    assertThat(status.path("state").asString()).isEqualTo(peer.state("failed"));
    assertThat(status.path("message").path("parts").path(0).path("text").asString())
        .contains("filter");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void an_answer_without_text_that_ended_normally_is_marked(String version) throws IOException {
    var peer = new A2aTestClient(testServer, "helper", version);
    var frames = peer.stream(peer.streaming(), peer.say("silent-" + version, "silent"));

    var last = frames.getLast().result();
    var update = peer.modern() ? last.path("statusUpdate") : last;
    assertThat(update.path("status").path("state").asString()).isEqualTo(peer.state("completed"));
    assertThat(update.path("metadata").path("empty").asBoolean(false)).isTrue();
    var task = peer.result(peer.getting(), A2aTestClient.id(update.path("taskId").asString()));
    assertThat(task.path("metadata").path("empty").asBoolean(false)).isTrue();
    assertThat(task.path("metadata").has("finishReason")).isFalse();
  }

  @Test
  void an_answer_without_text_is_marked_in_the_results_of_the_other_apis() throws IOException {
    var run = new AgUiTestClient(testServer, "helper", AgUiTestClient.id()).say("silent");
    var result = run.events().getLast().path("result");
    assertThat(result.path("empty").asBoolean(false)).as(result.toString()).isTrue();
    assertThat(result.path("content").asString("x")).isEmpty();

    var chat = new ChatTestClient(testServer);
    var sent = chat.sent(Json.object().put("content", "silent").put("agentId", "helper"));
    var completed = chat.follow(sent).getLast().json();
    assertThat(completed.path("metadata").path("empty").asBoolean(false)).isTrue();
    var task = chat.read("/chat/tasks/" + sent.taskId()).path("result");
    assertThat(task.path("metadata").path("empty").asBoolean(false)).as(task.toString()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void an_agent_elsewhere_passes_the_reason_on(String version, @TempDir Path above) {
    var yaml =
        "agents: [{id: far, type: a2a, url: \"%s/a2a/helper\", version: \"%s\", transport: jsonrpc}]\n"
            .formatted(testServer.url, version);
    try (var top = TestServer.durable(above, TestServer.Wish.USUAL, yaml)) {
      var peer = new A2aTestClient(top, "far", version);
      var task = peer.send(peer.say("far-" + version, "long"));
      assertThat(A2aTestClient.text(task)).isEqualTo("ab");
      assertReason(task.path("metadata"), "length");
    }
  }

  private static void assertReason(JsonNode metadata, String reason) {
    assertThat(metadata.path("finishReason").asString("")).isEqualTo(reason);
    assertThat(metadata.path("truncated").asBoolean(false)).isEqualTo(reason.equals("length"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_complete_answer_has_none(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);
    assertThat(peer.send(peer.say("whole-" + version, "whole")).toString())
        .contains("whole")
        .doesNotContain("finishReason")
        .doesNotContain("truncated");
  }
}
