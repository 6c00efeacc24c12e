package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Approvals and questions by kagent's extension for people in the loop, by its older form, and by words (SESSION-61, SESSION-66).
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class A2aHitlTest {

  private static final String URI = "https://kagent.dev/extensions/hitl/v1";
  private static final String YAML =
      """
      agents:
        - {id: helper, description: Helps, tools: [shell, ask_user, sign_in, "agent:below", "agent:beside"]}
        - {id: beside, description: Works beside, tools: [ask_user]}
        - {id: below, description: Works below, tools: [shell, ask_user]}
      approvals: {a2aCallers: [local]}
      """;

  private TestServer testServer;

  @BeforeAll
  void open(@TempDir Path folder) {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL, YAML);
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private static JsonNode request(JsonNode task) {
    return task.path("status").path("message").path("metadata").path(URI);
  }

  /// A message to the task with this in the extension's place.
  private static ObjectNode with(A2aTestClient peer, JsonNode task, String id, String payload) {
    var params = A2aTestClient.in(peer.say(id, "my answer"), "taskId", task.path("id").asString());
    var message = (ObjectNode) params.path("message");
    message.putObject("metadata").set(URI, Json.mapper().readTree(payload));
    message.putArray("extensions").add(URI);
    return params;
  }

  private static ObjectNode word(A2aTestClient peer, JsonNode task, String id, String text) {
    return A2aTestClient.in(peer.say(id, text), "taskId", task.path("id").asString());
  }

  private static String state(JsonNode task) {
    return task.path("status").path("state").asString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_tool_is_approved_by_its_id_exactly_once(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);
    var asks = peer.send(peer.say("run-" + version, "run echo approved-" + version));
    assertThat(state(asks)).isEqualTo(peer.state("input-required"));
    var request = request(asks);
    assertThat(request.path("type").asString()).isEqualTo("tool_approval_request");
    var tool = request.path("tools").get(0);
    assertThat(tool.path("name").asString()).isEqualTo("shell");
    assertThat(tool.path("args").path("command").asString()).contains("echo");
    var id = tool.path("id").asString();

    var approval = "{\"id\":\"%s\",\"approved\":true}".formatted(id);
    var none = "{\"type\":\"tool_approval_response\",\"approvals\":[]}";
    var twice =
        "{\"type\":\"tool_approval_response\",\"approvals\":[%s,%s]}".formatted(approval, approval);
    var other =
        "{\"type\":\"tool_approval_response\",\"approvals\":[{\"id\":\"x\",\"approved\":true}]}";
    for (var wrong : new String[] {none, twice, other, "{\"type\":\"what\"}"}) {
      var answer = with(peer, asks, "wrong-" + wrong.length() + version, wrong);
      assertThat(peer.error(peer.sending(), answer)).as(wrong).isEqualTo(-32602);
    }
    var yes = "{\"type\":\"tool_approval_response\",\"approvals\":[%s]}".formatted(approval);
    var done = peer.send(with(peer, asks, "yes-" + version, yes));

    assertThat(state(done)).isEqualTo(peer.state("completed"));
    assertThat(done.path("history").toString()).contains("function_response", "approved-");
    assertThat(peer.error(peer.sending(), with(peer, asks, "stale-" + version, yes)))
        .isEqualTo(peer.modern() ? -32004 : -32602);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void words_approve_only_if_they_say_so(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);
    var asks = peer.send(peer.say("words-" + version, "run echo words"));

    for (var unclear : new String[] {"maybe", "yes but not now", "what does it do?"}) {
      assertThat(peer.error(peer.sending(), word(peer, asks, "u" + unclear.length(), unclear)))
          .isEqualTo(-32602);
    }
    var done = peer.send(word(peer, asks, "deny-" + version, "deny"));

    assertThat(state(done)).isEqualTo(peer.state("completed"));
    assertThat(done.path("history").toString()).doesNotContain("\"exitCode\":0");
  }

  @Test
  void the_older_form_of_decisions_is_understood() {
    var peer = new A2aTestClient(testServer, "helper", "0.3");
    var asks = peer.send(peer.say("old-1", "run echo old"));
    var call = request(asks).path("tools").get(0).path("call_id").asString();
    var params = word(peer, asks, "old-2", "");
    var part = ((ObjectNode) params.path("message")).putArray("parts").addObject();
    part.put("kind", "data");
    var data = part.putObject("data").put("decision_type", "batch");
    data.putObject("decisions").put(call, "approve");

    assertThat(state(peer.send(params))).isEqualTo("completed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_question_is_answered_by_its_id(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);
    var asks = peer.send(peer.say("ask-" + version, "ask me which size"));
    var request = request(asks);
    assertThat(request.path("type").asString()).isEqualTo("ask_user_request");
    var answer =
        "{\"type\":\"ask_user_response\",\"id\":\"%s\",\"answers\":[{\"answer\":[\"large\"]}]}";

    assertThat(
            peer.error(
                peer.sending(), with(peer, asks, "q1-" + version, answer.formatted("other"))))
        .isEqualTo(-32602);
    var done =
        peer.send(
            with(peer, asks, "q2-" + version, answer.formatted(request.path("id").asString())));

    assertThat(state(done)).isEqualTo(peer.state("completed"));
    assertThat(A2aTestClient.text(done)).contains("large");
  }

  @Test
  void what_an_agent_below_asks_is_nested() {
    var peer = new A2aTestClient(testServer, "helper", "1.0");
    var asks = peer.send(peer.say("nested-1", "delegate run echo deep to below"));
    assertThat(state(asks)).isEqualTo("TASK_STATE_INPUT_REQUIRED");
    var request = request(asks);
    assertThat(request.path("nested").path("subagent_name").asString()).isEqualTo("below");
    assertThat(request.path("nested").path("context_id")).isEqualTo(asks.path("contextId"));
    var id = request.path("tools").get(0).path("id").asString();

    var done =
        peer.send(
            with(
                peer,
                asks,
                "nested-2",
                "{\"type\":\"tool_approval_response\",\"approvals\":[{\"id\":\"%s\",\"approved\":true}]}"
                    .formatted(id)));

    assertThat(state(done)).isEqualTo("TASK_STATE_COMPLETED");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_sign_in_is_asked_for_and_no_message_brings_it(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);
    var asks = peer.send(peer.say("auth-" + version, "sign in to github"));

    assertThat(state(asks)).isEqualTo(peer.state("auth-required"));
    assertThat(peer.error(peer.sending(), word(peer, asks, "a2-" + version, "secret")))
        .isEqualTo(-32602);
    assertThat(
            peer.result(peer.canceling(), A2aTestClient.id(asks.path("id").asString()))
                .path("status")
                .path("state")
                .asString())
        .isEqualTo(peer.state("canceled"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_stream_ends_with_the_question_and_goes_on_with_the_answer(String version)
      throws Exception {
    var peer = new A2aTestClient(testServer, "helper", version);
    var frames = peer.stream(peer.streaming(), peer.say("s-" + version, "ask me which day"));
    assertThat(frames.getLast().result().toString()).contains(peer.state("input-required"));
    var first = frames.getFirst().result();
    var task = peer.modern() ? first.path("task") : first;

    var more = peer.stream(peer.streaming(), word(peer, task, "s2-" + version, "monday"));

    assertThat(more.getFirst().result().toString()).contains(peer.state("input-required"));
    assertThat(more.getLast().result().toString()).contains(peer.state("completed"));
    assertThat(more.toString()).contains("monday");
    var again =
        peer.stream(
            peer.subscribing(), A2aTestClient.id(task.path("id").asString()), "Last-Event-ID", "0");
    assertThat(again.getLast().result().toString()).contains(peer.state("completed"));
    assertThat(again.toString()).contains(peer.state("input-required"));
    assertFinalAtTheEnd(peer, frames);
    assertFinalAtTheEnd(peer, more);
    assertFinalAtTheEnd(peer, again);
    var rest =
        peer.stream(
            peer.subscribing(),
            A2aTestClient.id(task.path("id").asString()),
            "Last-Event-ID",
            frames.getLast().id());
    assertThat(rest.getLast().result().toString()).contains(peer.state("completed"));
  }

  /// A stream of 0.3 says `final` in its last frame and in no other (EVENT-62); 1.0 never does.
  private static void assertFinalAtTheEnd(A2aTestClient peer, List<A2aTestClient.Frame> frames) {
    var finals = frames.stream().filter(one -> one.result().path("final").asBoolean(false));
    assertThat(finals.toList()).isEqualTo(peer.modern() ? List.of() : List.of(frames.getLast()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void an_answer_to_one_of_several_questions_ends_its_stream_with_those_left_EVENT_62(
      String version) throws Exception {
    var peer = new A2aTestClient(testServer, "helper", version);
    var ask = peer.say("two-" + version, "delegate ask me which day to below and beside");
    var begun = peer.stream(peer.streaming(), ask);
    var first = begun.getFirst().result();
    var task = peer.modern() ? first.path("task") : first;

    var left = peer.stream(peer.streaming(), answer(peer, task, begun, "two-a-" + version));
    var done = peer.stream(peer.streaming(), answer(peer, task, left, "two-b-" + version));

    for (var frames : List.of(begun, left, done)) {
      assertFinalAtTheEnd(peer, frames);
    }
    assertThat(status(peer, begun).path("state").asString())
        .isEqualTo(status(peer, left).path("state").asString())
        .isEqualTo(peer.state("input-required"));
    assertThat(status(peer, done).path("state").asString()).isEqualTo(peer.state("completed"));
    var again =
        peer.stream(
            peer.subscribing(), A2aTestClient.id(task.path("id").asString()), "Last-Event-ID", "0");
    assertFinalAtTheEnd(peer, again);
  }

  private static JsonNode status(A2aTestClient peer, List<A2aTestClient.Frame> frames) {
    var last = frames.getLast().result();
    return (peer.modern() ? last.path("statusUpdate") : last).path("status");
  }

  /// The answer to the question that the last of these frames asks.
  private static ObjectNode answer(
      A2aTestClient peer, JsonNode task, List<A2aTestClient.Frame> frames, String id) {
    var asked = status(peer, frames).path("message").path("metadata").path(URI).path("id");
    return with(
        peer,
        task,
        id,
        "{\"type\":\"ask_user_response\",\"id\":%s,\"answers\":[{\"answer\":[\"x\"]}]}"
            .formatted(asked));
  }
}
