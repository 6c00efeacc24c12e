package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
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

/// Going back by a message's metadata, as kagent's clients do it (SESSION-41 to SESSION-50).
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class A2aRewindTest {

  private TestServer testServer;

  @BeforeAll
  void open(@TempDir Path folder) {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL, A2aJsonRpcTest.YAML);
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private static JsonNode say(A2aTestClient peer, String context, String text) {
    return peer.send(
        A2aTestClient.in(peer.say(context + text, "say " + text), "contextId", context));
  }

  private static ObjectNode back(A2aTestClient peer, String context, JsonNode before, String text) {
    var params =
        A2aTestClient.in(peer.say(context + "-back-" + text.length(), text), "contextId", context);
    ((ObjectNode) params.path("message"))
        .putObject("metadata")
        .put("kagent_rewind_before_invocation_id", before.path("id").asString("unknown"));
    return params;
  }

  private static JsonNode task(A2aTestClient peer, A2aTestClient.Frame frame) {
    return peer.modern() ? frame.result().path("task") : frame.result();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_rewind_alone_is_one_task_with_what_still_counts(String version) throws Exception {
    var peer = new A2aTestClient(testServer, "helper", version);
    var context = "back-" + version;
    var first = say(peer, context, "alpha");
    var second = say(peer, context, "beta");

    var frames = peer.stream(peer.streaming(), back(peer, context, second, ""));

    assertThat(frames).hasSize(1);
    var task = task(peer, frames.getFirst());
    assertThat(task.path("id").asString()).isEqualTo(context);
    assertThat(task.path("metadata").path("kagent_rewound").asBoolean()).isTrue();
    assertThat(task.path("history")).isEqualTo(first.path("history"));
    assertThat(peer.error(peer.getting(), A2aTestClient.id(second.path("id").asString())))
        .isEqualTo(-32001);
    var empty =
        task(peer, peer.stream(peer.streaming(), back(peer, context, first, "")).getFirst());
    assertThat(empty.path("history").isEmpty()).isTrue();
    assertThat(A2aTestClient.text(say(peer, context, "gamma"))).contains("gamma");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_rewind_with_words_goes_on_from_there(String version) throws Exception {
    var peer = new A2aTestClient(testServer, "helper", version);
    var context = "on-" + version;
    var first = say(peer, context, "alpha");
    var second = say(peer, context, "beta");

    var frames = peer.stream(peer.streaming(), back(peer, context, second, "say delta"));

    assertThat(task(peer, frames.getFirst()).path("history")).isEqualTo(first.path("history"));
    assertThat(task(peer, frames.get(1)).path("id").asString()).isNotEqualTo(context);
    assertThat(frames.getLast().result().toString()).contains(peer.state("completed"));
    assertThat(frames.toString()).contains("delta");
  }

  @Test
  void a_refused_rewind_does_not_tell_whose_the_context_is(@TempDir Path folder) throws Exception {
    var wish = TestServer.Wish.USUAL.tokens(token("ann"), token("bob"));
    try (var other = TestServer.durable(folder, wish)) {
      var ann = new KagentTestClient(other, "Authorization", "Bearer ann");
      var bob = new KagentTestClient(other, "Authorization", "Bearer bob");
      KagentTestClient.data(201, ann.post("/api/sessions", Json.object().put("id", "hers")));
      var task = ann.say("hers", "say hi");

      for (var method : List.of("message/send", "message/stream")) {
        var hers = bob.rpc(method, rewind("hers", task)).body();
        assertThat(hers).contains("-32602", "no such context: hers").doesNotContain("ann");
        assertThat(bob.rpc(method, rewind("none", task)).body().replace("none", "hers"))
            .isEqualTo(hers);
      }
      assertThat(ann.conversation("hers")).containsExactly("say hi", "hi");
    }
  }

  private static ObjectNode rewind(String context, String before) {
    var message = KagentTestClient.message(context, "back", "");
    message.putObject("metadata").put("kagent_rewind_before_invocation_id", before);
    return Json.object().set("message", message);
  }

  private static ApiToken token(String name) throws Exception {
    var hash = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
    return new ApiToken(name, HexFormat.of().formatHex(hash));
  }

  @Test
  void a_rewind_to_nowhere_fails_and_changes_nothing() throws Exception {
    var peer = new A2aTestClient(testServer, "helper", "0.3");
    var first = say(peer, "nowhere", "alpha");
    var frames = peer.stream("message/stream", back(peer, "nowhere", A2aTestClient.id("none"), ""));

    assertThat(frames).hasSize(1);
    var update = frames.getFirst().result();
    assertThat(update.path("kind").asString()).isEqualTo("status-update");
    assertThat(update.path("status").path("state").asString()).isEqualTo("failed");
    assertThat(update.path("final").asBoolean()).isTrue();
    assertThat(peer.result("tasks/get", A2aTestClient.id(first.path("id").asString())))
        .isEqualTo(first);
  }
}
