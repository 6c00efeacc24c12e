package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What calls of tools tell their readers: steps, durations, urgency, and thoughts.
@Timeout(60)
class ToolReportsTest {

  private static final String YAML =
      """
      agents:
        - {id: clerk, tools: [report, shell, ask_user, think, search_files], permissions: {allow: ["*"]}}
      """;

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() throws IOException {
    testServer = TestServer.configured(folder, YAML);
    testServer.context("c");
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void tools_with_steps_count_them_s5_20_s5_68() throws Exception {
    send("use report {\"name\":\"r\",\"content\":\"" + "a line of text ".repeat(40) + "\"}");
    var told = until("", event -> kind(event).equals("task-complete"));

    var steps = told.stream().filter(event -> kind(event).equals("tool-progress")).toList();
    assertThat(steps).hasSizeGreaterThan(1);
    for (var i = 0; i < steps.size(); i++) {
      var metadata = steps.get(i).path("metadata");
      assertThat(metadata.path("stepsCompleted").asInt()).isEqualTo(i + 1);
      assertThat(metadata.path("stepsTotal").asInt()).isEqualTo(steps.size());
      assertThat(metadata.path("step").asString()).isNotBlank();
      assertThat(steps.get(i).path("progress").asDouble())
          .isEqualTo((double) (i + 1) / steps.size());
    }
  }

  @Test
  void a_command_whose_end_nobody_knows_makes_no_progress_up_s5_20() throws Exception {
    var gate = folder.resolve("gate");
    send("use shell {\"command\":\"echo working; until [ -e gate ]; do sleep 0.1; done\"}");
    var progress = until("", event -> kind(event).equals("tool-progress")).getLast();
    Files.createFile(gate);

    assertThat(progress.path("progress").asDouble(-1)).isZero();
    assertThat(progress.path("message").asString()).isEqualTo("working");
    assertThat(progress.at("/metadata/stage").asString()).isEqualTo("running");
    until("", event -> kind(event).equals("task-complete"));
  }

  @Test
  void a_client_tool_has_the_time_that_the_client_took_and_no_retry_s5_21() throws Exception {
    var message = Json.object().put("content", "use locate {}");
    message
        .putArray("clientTools")
        .addObject()
        .put("name", "locate")
        .putObject("schema")
        .put("type", "object");
    send(message);
    var asked = until("", event -> kind(event).equals("input-required")).getLast();
    // Until the log's clock, which has milliseconds, has moved on.
    while (!Instant.now().isAfter(at(asked).plusMillis(2))) {
      Thread.onSpinWait();
    }
    answer(asked, "{\"value\":{\"place\":\"here\"}}");
    var told = until("", event -> kind(event).equals("task-complete"));

    var start = first(told, "tool-start");
    var received = first(told, "input-received");
    var end = first(told, "tool-complete");
    assertThat(end.path("success").asBoolean()).isTrue();
    assertThat(end.at("/metadata/retries").isMissingNode()).isTrue();
    assertThat(end.at("/metadata/duration").asLong())
        .isPositive()
        .isGreaterThanOrEqualTo(Duration.between(at(start), at(received)).toMillis());
  }

  @Test
  void a_question_says_how_urgent_it_is_s5_25() throws Exception {
    send("use ask_user {\"question\":\"Now?\",\"urgency\":\"high\"}");
    var high = until("", event -> kind(event).equals("input-required")).getLast();
    assertThat(high.at("/metadata/urgency").asString()).isEqualTo("high");
    answer(high, "{\"value\":\"yes\"}");

    testServer.context("d");
    var low = Json.object().put("content", "use ask_user {\"question\":\"Later?\"}");
    assertThat(
            testServer
                .post("/api/contexts/d/messages", low.put("priority", "low").toString())
                .statusCode())
        .isEqualTo(202);
    var asked = until("d", "", event -> kind(event).equals("input-required")).getLast();
    assertThat(asked.at("/metadata/urgency").asString()).isEqualTo("low");
  }

  @Test
  void a_thought_may_be_internal_and_about_a_call_s5_50_s5_65() throws Exception {
    send("use think {\"thought\":\"hm\",\"visibility\":\"internal\",\"relatedTo\":\"call-7\"}");
    var shown = until("", event -> kind(event).equals("task-complete"));
    assertThat(shown).noneMatch(event -> event.path("content").asString("").equals("hm"));

    var all = until("internal=true", event -> kind(event).equals("task-complete"));
    var thought =
        all.stream()
            .filter(event -> event.path("content").asString("").equals("hm"))
            .findFirst()
            .orElseThrow();
    assertThat(thought.path("visibility").asString()).isEqualTo("internal");
    assertThat(thought.at("/metadata/relatedTo").asString()).isEqualTo("call-7");
  }

  private void send(String text) {
    send(Json.object().put("content", text));
  }

  private void send(ObjectNode message) {
    assertThat(testServer.post("/api/contexts/c/messages", message.toString()).statusCode())
        .isEqualTo(202);
  }

  private void answer(JsonNode asked, String body) {
    var path = "/api/contexts/c/inputs/" + asked.path("inputId").asString();
    assertThat(testServer.post(path, body).statusCode()).isEqualTo(202);
  }

  private List<JsonNode> until(String query, Predicate<JsonNode> last) throws IOException {
    return until("c", query, last);
  }

  private List<JsonNode> until(String context, String query, Predicate<JsonNode> last)
      throws IOException {
    var told = new ArrayList<JsonNode>();
    try (var stream = testServer.stream("/api/contexts/" + context + "/stream?" + query)) {
      while (told.isEmpty() || !last.test(told.getLast())) {
        var frame = stream.next();
        if (frame.data() != null) {
          told.add(frame.json());
        }
      }
    }
    return told;
  }

  private static JsonNode first(List<JsonNode> told, String kind) {
    return told.stream().filter(event -> kind(event).equals(kind)).findFirst().orElseThrow();
  }

  private static String kind(JsonNode event) {
    return event.path("kind").asString();
  }

  private static Instant at(JsonNode event) {
    return Instant.parse(event.path("timestamp").asString());
  }
}
