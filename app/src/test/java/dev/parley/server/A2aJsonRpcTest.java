package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/// Agents called by A2A over JSON-RPC, in both versions (EVENT-L, SESSION-C).
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class A2aJsonRpcTest {

  static final String YAML =
      """
      agents:
        - {id: helper, name: Helper, description: Helps, tools: [files, shell, ask_user, artifacts, sign_in]}
        - {id: other, description: Somebody else}
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

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_message_makes_a_task_that_is_answered_when_it_has_ended(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);

    var task = peer.send(peer.say("send-" + version, "say hello"));

    assertThat(task.path("status").path("state").asString()).isEqualTo(peer.state("completed"));
    assertThat(A2aTestClient.text(task)).contains("hello");
    assertThat(task.path("history").get(0).path("messageId").asString())
        .isEqualTo("send-" + version);
    for (var message : task.path("history")) {
      assertThat(message.path("metadata").path("kagent_invocation_id")).isEqualTo(task.path("id"));
    }
    assertThat(peer.result(peer.getting(), A2aTestClient.id(task.path("id").asString())))
        .isEqualTo(task);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void the_same_message_again_is_the_same_task(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);

    var first = peer.send(peer.say("twice-" + version, "say once"));
    var second = peer.send(peer.say("twice-" + version, "say once"));

    assertThat(second).isEqualTo(first);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void other_words_under_a_used_message_id_are_a_conflict_CORE_2(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);
    for (var context : List.of("", "reuse-" + version)) {
      var id = "reuse-id-" + context + version;
      var first = peer.send(in(context, peer.say(id, "say one")));

      var other = peer.call(peer.sending(), in(context, peer.say(id, "say two")));

      assertThat(other.path("error").path("code").asInt()).isEqualTo(-32602);
      assertThat(other.path("error").path("message").asString())
          .contains(id)
          .contains("a different message");
      assertThat(peer.send(in(context, peer.say(id, "say one")))).isEqualTo(first);
      var labeled = in(context, peer.say(id, "say one"));
      ((ObjectNode) labeled.path("message")).putObject("metadata").put("sent", 2);
      assertThat(peer.send(labeled).path("id")).isEqualTo(first.path("id"));
    }
    var asks = peer.send(peer.say("reuse-ask-" + version, "ask me which day"));
    var task = asks.path("id").asString();
    var reused = A2aTestClient.in(peer.say("reuse-ask-" + version, "monday"), "taskId", task);
    assertThat(peer.error(peer.sending(), reused)).isEqualTo(-32602);
    var answer = A2aTestClient.in(peer.say("reuse-answer-" + version, "monday"), "taskId", task);
    assertThat(peer.send(answer).path("status").path("state").asString())
        .isEqualTo(peer.state("completed"));
    assertThat(peer.send(answer).path("id").asString()).isEqualTo(task);
    var changed = A2aTestClient.in(peer.say("reuse-answer-" + version, "friday"), "taskId", task);
    assertThat(peer.call(peer.sending(), changed).path("error").path("message").asString())
        .contains("a different message");
  }

  private static ObjectNode in(String context, ObjectNode params) {
    return context.isEmpty() ? params : A2aTestClient.in(params, "contextId", context);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_stream_tells_text_as_it_comes_and_ends_once(String version) throws Exception {
    var peer = new A2aTestClient(testServer, "helper", version);

    var frames = peer.stream(peer.streaming(), peer.say("stream-" + version, "count to 3"));

    var log = frames.stream().map(frame -> frame.result().toString()).toList();
    if (peer.modern()) {
      assertThat(log.getFirst()).startsWith("{\"task\":").contains("\"history\":[{");
    } else {
      assertThat(log.getFirst()).startsWith("{\"kind\":\"task\"").contains("\"history\":[]");
      assertThat(log.get(1)).contains("\"submitted\"").contains("\"stream-0.3\"");
      assertThat(log).filteredOn(line -> line.contains("\"final\":true")).hasSize(1);
      assertThat(log.getLast()).contains("\"final\":true");
    }
    assertThat(log.getLast()).contains(peer.state("completed"));
    assertThat(log.get(log.size() - 2)).contains("\"lastChunk\":true");
    assertThat(frames)
        .extracting(A2aTestClient.Frame::id)
        .doesNotHaveDuplicates()
        .doesNotContain("");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void names_of_the_other_version_are_unknown(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);
    var other = new A2aTestClient(testServer, "helper", peer.modern() ? "0.3" : "1.0");

    assertThat(peer.error(other.sending(), peer.say("names-" + version, "say x")))
        .isEqualTo(-32601);
    assertThat(new A2aTestClient(testServer, "helper", "9.9").error("GetTask", Json.object()))
        .isEqualTo(-32009);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_task_can_be_canceled_once(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);
    var wanted = peer.say("cancel-" + version, "count slowly to 500");
    wanted.putObject("configuration").put("blocking", false).put("returnImmediately", true);
    var id = A2aTestClient.id(peer.send(wanted).path("id").asString());

    var canceled = peer.result(peer.canceling(), id);

    assertThat(canceled.path("status").path("state").asString()).isEqualTo(peer.state("canceled"));
    assertThat(peer.error(peer.canceling(), id)).isEqualTo(-32002);
    assertThat(peer.error(peer.getting(), A2aTestClient.id("unknown"))).isEqualTo(-32001);
    assertThat(new A2aTestClient(testServer, "other", version).error(peer.getting(), id))
        .isEqualTo(-32001);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void what_a_task_asks_is_answered_by_a_message_to_it(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);
    var asks = peer.send(peer.say("asks-" + version, "ask me which colour"));
    assertThat(asks.path("status").path("state").asString())
        .isEqualTo(peer.state("input-required"));
    assertThat(asks.path("status").path("message").toString()).contains("colour");

    var answered =
        peer.send(
            A2aTestClient.in(
                peer.say("answers-" + version, "blue"), "taskId", asks.path("id").asString()));

    assertThat(answered.path("id")).isEqualTo(asks.path("id"));
    assertThat(answered.path("status").path("state").asString()).isEqualTo(peer.state("completed"));
    assertThat(A2aTestClient.text(answered)).contains("blue");
    assertThat(answered.path("history").toString()).contains("answers-" + version);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_message_to_a_task_that_works_belongs_to_it(String version) {
    var peer = new A2aTestClient(testServer, "helper", version);
    var wanted = peer.say("works-" + version, "count slowly to 1000");
    wanted.putObject("configuration").put("blocking", false).put("returnImmediately", true);
    var id = peer.send(wanted).path("id").asString();
    while (!peer.result(peer.getting(), A2aTestClient.id(id))
        .toString()
        .contains(peer.state("working"))) {
      Thread.onSpinWait();
    }
    var more = A2aTestClient.in(peer.say("more-" + version, "say more"), "taskId", id);
    more.putObject("configuration").put("blocking", false).put("returnImmediately", true);

    var told = peer.send(more);

    assertThat(told.path("id").asString()).isEqualTo(id);
    assertThat(told.path("history").toString()).contains("more-" + version);
    peer.result(peer.canceling(), A2aTestClient.id(id));
  }
}
