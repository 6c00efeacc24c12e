package dev.parley.server;

import static dev.parley.server.InboxTest.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.McpTestServers;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.ObjectNode;

/// Forms of MCP servers reach people through every API, and can be accepted, declined and canceled.
@Timeout(120)
class McpFormsTest {

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = site();
  }

  private TestServer site() {
    var yaml =
        """
        agents: [{id: forms, description: Fills in forms, tools: ['mcp:odd'], permission: allow}]
        mcpServers: {odd: {command: [node, '%s']}}
        approvals: {a2aCallers: [local]}
        """
            .formatted(McpTestServers.oddServer());
    return TestServer.durable(folder, TestServer.Wish.USUAL, yaml);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_caller_over_a2a_is_asked_and_answers(String version) {
    var peer = new A2aTestClient(testServer, "forms", version);
    var asks = peer.send(peer.say("ask", "use odd_ask {}"));

    assertThat(asks.at("/status/state").asString()).isEqualTo(peer.state("input-required"));
    assertThat(asks.at("/status/message").toString()).contains("Which colour?");
    var form = form(asks);
    assertThat(form.path("inputId").asString()).isNotEmpty();
    assertThat(form.path("prompt").asString()).endsWith("Which colour?");
    assertThat(form.at("/schema/properties").has("colour")).isTrue();
    var answer =
        A2aTestClient.in(
            peer.say("answer", "{\"colour\":\"red\"}"), "taskId", asks.path("id").asString());
    var done = peer.send(answer);

    assertThat(done.at("/status/state").asString()).isEqualTo(peer.state("completed"));
    assertThat(A2aTestClient.text(done)).contains("accept", "red");
  }

  @ParameterizedTest
  @CsvSource({"0.3, decline, decline", "1.0, decline, decline", "1.0, skip, cancel"})
  void a_caller_over_a2a_declines_or_skips_as_the_form_says(
      String version, String choice, String action) {
    var peer = new A2aTestClient(testServer, "forms", version);
    var asks = peer.send(peer.say("ask-" + choice, "use odd_ask {}"));
    var answer =
        A2aTestClient.in(peer.say("answer-" + choice, ""), "taskId", asks.path("id").asString());
    var part = ((ObjectNode) answer.path("message")).putArray("parts").addObject();
    if (!peer.modern()) {
      part.put("kind", "data");
    }
    part.set("data", form(asks).path(choice));

    var done = peer.send(answer);

    assertThat(done.at("/status/state").asString()).isEqualTo(peer.state("completed"));
    assertThat(A2aTestClient.text(done)).contains(action);
  }

  /// The data part that describes the form.
  private static JsonNode form(JsonNode asks) {
    return asks.at("/status/message/parts")
        .valueStream()
        .map(part -> part.path("data"))
        .filter(data -> data.path("type").asString("").equals("input_request"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void an_application_over_ag_ui_is_asked_and_answers() throws IOException {
    var app = new AgUiTestClient(testServer, "forms", "thread");
    var asks = app.say("use odd_ask {}");

    assertThat(asks.interrupt().path("reason").asString()).isEqualTo("input_required");
    assertThat(asks.interrupt().at("/responseSchema/properties").has("colour")).isTrue();
    var done = app.answer(asks, Json.object().put("colour", "red"));

    assertThat(done.text()).contains("accept", "red");
  }

  @Test
  void the_task_waits_for_a_person_while_a_form_is_open_and_works_afterwards() {
    var context = say("native", "use odd_ask {}");
    var testUser = person();
    var waiting = testUser.await(context, event -> is(event, "waiting-input"));
    var asked = testUser.await(context, "input-required");

    assertThat(waiting.at("/metadata/inputIds/0").asString())
        .isEqualTo(asked.path("inputId").asString());
    answer(context, Json.object().put("colour", "red"));
    testUser.await(
        context,
        event -> is(event, "working") && event.path("seq").asLong() > waiting.path("seq").asLong());
    assertThat(result(context)).contains("accept", "red");
  }

  @ParameterizedTest
  @CsvSource({
    "odd_ask, '{\"declined\":true}', decline",
    "odd_ask, '{\"skipped\":true}', cancel",
    "odd_confirm, true, accept",
    "odd_confirm, false, decline",
    "odd_confirm, '{\"approved\":true}', accept",
    "odd_confirm, '{\"approved\":false}', decline",
    "odd_confirm, '{\"declined\":true}', decline",
    "odd_confirm, '{\"skipped\":true}', cancel",
  })
  void a_form_is_accepted_declined_or_canceled(String tool, String value, String action) {
    var context = say("form", "use " + tool + " {}");
    answer(context, Json.mapper().readTree(value));

    assertThat(result(context)).contains(action);
  }

  @Test
  void an_answer_that_does_not_fit_is_refused_and_the_form_stays_open() {
    var context = say("misfit", "use odd_ask {}");
    var input = person().await(context, "input-required").path("inputId").asString();

    var refused = person().answer(context, input, BooleanNode.FALSE);
    assertProblem(refused, 400, "invalid-answer");
    assertThat(refused.body()).contains("the answer does not fit: boolean found");
    answer(context, Json.object().put("colour", "red"));
    assertThat(result(context)).contains("accept");
  }

  @Test
  void fields_that_an_answer_leaves_out_get_their_defaults() {
    var context = say("defaults", "use odd_defaults {}");
    answer(context, Json.object().put("name", "Ada"));

    var received = person().await(context, "input-received").path("value");
    assertThat(received)
        .isEqualTo(Json.object().put("name", "Ada").put("size", 3).put("fast", false));
    assertThat(result(context)).contains("\"size\":3");
  }

  @Test
  void a_form_that_was_open_when_the_server_stopped_is_closed_and_asked_again() {
    var context = say("restart", "use odd_defaults {}");
    person().await(context, event -> is(event, "waiting-input"));
    var first = person().await(context, "input-required").path("inputId").asString();
    testServer.close();
    testServer = site();

    var lapsed = person().await(context, "input-lapsed");
    assertThat(lapsed.path("inputId").asString()).isEqualTo(first);
    var second =
        person()
            .await(
                context,
                event ->
                    event.path("kind").asString().equals("input-required")
                        && !event.path("inputId").asString().equals(first));
    var input = second.path("inputId").asString();
    var reply = person().answer(context, input, Json.object().put("name", "Ada"));
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(202);
    assertThat(result(context)).contains("accept", "Ada");
  }

  private TestUser person() {
    return new TestUser(testServer, new SecretLeaks());
  }

  private ContextId say(String context, String text) {
    testServer.post("/api/contexts", Json.object().put("contextId", context).toString());
    var body = Json.object().put("content", text).put("agentId", "forms").toString();
    var reply = testServer.post("/api/contexts/" + context + "/messages", body);
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(202);
    return new ContextId(context);
  }

  private void answer(ContextId context, JsonNode value) {
    var input = person().await(context, "input-required").path("inputId").asString();
    var reply = person().answer(context, input, value);
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(202);
  }

  /// What the tool said in the end.
  private String result(ContextId context) {
    var done = person().await(context, "tool-complete");
    assertThat(done.path("success").asBoolean()).as(done.toString()).isTrue();
    return StreamSupport.stream(done.path("result").spliterator(), false)
        .map(JsonNode::asString)
        .reduce("", String::concat);
  }

  private static boolean is(JsonNode event, String status) {
    return event.path("kind").asString().equals("task-status")
        && event.path("status").asString().equals(status);
  }
}
