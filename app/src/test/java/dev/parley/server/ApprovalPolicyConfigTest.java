package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.http.Sha256;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.net.URI;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.BooleanNode;

/// Who may approve, by the configuration.
@Timeout(120)
class ApprovalPolicyConfigTest {

  private static final String AGENTS = "agents: [{id: agent-code, tools: [shell, ask_user]}]\n";
  private static final String TOKENS =
      """
      auth:
        tokens:
          - {name: ann, sha256: "%s"}
          - {name: bot, sha256: "%s", approve: false}
      """
          .formatted(sha256("ann-token"), sha256("bot-token"));

  private static final String[] ANN = {"Authorization", "Bearer ann-token"};
  private static final String[] BOT = {"Authorization", "Bearer bot-token"};

  private static String sha256(String text) {
    return HexFormat.of().formatHex(Sha256.of(text));
  }

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void an_a2a_caller_answers_questions_but_does_not_approve(String version) throws Exception {
    try (var secretLeaks = new SecretLeaks();
        var testServer = TestServer.configured(folder, AGENTS)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var peer = new A2aTestClient(testServer, "agent-code", version);
      var question = peer.send(peer.say("m1", "ask me which colour")).path("id").asString();
      var call = peer.send(peer.say("m2", "run touch made")).path("id").asString();

      var answered = peer.send(A2aTestClient.in(peer.say("m3", "blue"), "taskId", question));
      var refused =
          peer.call(peer.sending(), A2aTestClient.in(peer.say("m4", "approve"), "taskId", call));

      assertThat(answered.path("status").path("state").asString())
          .isEqualTo(peer.state("completed"));
      assertThat(refused.path("error").path("code").asInt()).isEqualTo(-32004);
      assertThat(refused.path("error").path("message").asString())
          .contains("approvals.a2aCallers", "approval-not-allowed", "still waits");
      var now = peer.result(peer.getting(), A2aTestClient.id(call));
      assertThat(now.path("status").path("state").asString())
          .isEqualTo(peer.state("input-required"));
      assertThat(folder.resolve("made")).doesNotExist();

      var item = testUser.json("/api/inbox").path("items").get(0);
      var context = new ContextId(item.path("contextId").asString());
      assertThat(
              testUser
                  .answer(context, item.path("inputId").asString(), BooleanNode.TRUE)
                  .statusCode())
          .isEqualTo(202);
      testUser.await(context, "task-complete");
      assertThat(folder.resolve("made")).exists();
    }
  }

  @Test
  void an_a2a_caller_that_is_allowed_to_approves() throws Exception {
    try (var testServer =
        TestServer.configured(folder, AGENTS + "approvals: {a2aCallers: [local]}\n")) {
      var peer = new A2aTestClient(testServer, "agent-code", "1.0");
      var call = peer.send(peer.say("m1", "run touch made")).path("id").asString();

      peer.send(A2aTestClient.in(peer.say("m2", "approve"), "taskId", call));

      assertThat(folder.resolve("made")).exists();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"standard", "strict"})
  void a_token_without_that_right_answers_but_does_not_approve(String mode) throws Exception {
    var yaml = AGENTS + TOKENS + "approvals: {mode: " + mode + "}\n";
    try (var secretLeaks = new SecretLeaks();
        var testServer = TestServer.configured(folder, yaml)) {
      var bot = new TestUser(testServer, secretLeaks, BOT);
      var call = bot.say("call", "run touch made");
      var input = bot.await(call, "input-required").path("inputId").asString();
      var asks = bot.say("asks", "ask me which colour");
      var question = bot.await(asks, "input-required").path("inputId").asString();

      var refused = bot.answer(call, input, BooleanNode.TRUE);
      var resume = "{\"inputs\":[{\"inputId\":\"%s\",\"value\":true}]}".formatted(input);
      var again = bot.post("/api/contexts/call/resume", Json.mapper().readTree(resume));

      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(refused.body()).contains("approval-not-allowed", "approve: false");
      assertThat(again.statusCode()).isEqualTo(403);
      assertThat(bot.answer(asks, question, Json.mapper().readTree("\"red\"")).statusCode())
          .isEqualTo(202);
      assertThat(folder.resolve("made")).doesNotExist();
    }
  }

  @Test
  void in_strict_mode_a_token_approves() throws Exception {
    try (var secretLeaks = new SecretLeaks();
        var testServer =
            TestServer.configured(folder, AGENTS + TOKENS + "approvals: {mode: strict}\n")) {
      var ann = new TestUser(testServer, secretLeaks, ANN);
      var call = ann.say("call", "run touch made");
      var input = ann.await(call, "input-required").path("inputId").asString();

      assertThat(ann.answer(call, input, BooleanNode.TRUE).statusCode()).isEqualTo(202);

      ann.await(call, "task-complete");
      assertThat(folder.resolve("made")).exists();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "approvals: {mode: strict}|needs auth.tokens",
        "approvals: {mode: sometimes}|must be one of standard, strict; found",
        "approvals: {a2aCallers: [ann]}|the only caller is local",
        "approvals: {callers: [ann]}|callers",
      })
  void a_configuration_that_makes_no_sense_is_refused(String yaml, String why) throws IOException {
    var file = Files.writeString(folder.resolve("wrong.yaml"), yaml + "\n");

    assertThatThrownBy(
            () ->
                Config.load(
                    file,
                    new Config.ProcessEnvironment(Map.of(), folder, folder),
                    TestServer.MODULES))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining(why);
  }

  @Test
  void a_socket_takes_no_answers() throws Exception {
    try (var secretLeaks = new SecretLeaks();
        var testServer = TestServer.configured(folder, AGENTS)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var call = testUser.say("call", "run touch made");
      var input = testUser.await(call, "input-required").path("inputId").asString();
      var answer = Json.object().put("contextId", "call").put("inputId", input).put("value", true);

      var plain = said(testServer, "/api/ws", answer.deepCopy().put("type", "answer").toString());
      var event = Json.object().put("event", "answer").set("data", answer);
      var agents = said(testServer, "/api/agents/ws", event.toString());

      assertThat(plain).contains("error");
      assertThat(agents).contains("unknown-event");
      assertThat(testUser.json("/api/inbox").path("items")).hasSize(1);
      assertThat(folder.resolve("made")).doesNotExist();
    }
  }

  /// What a socket says that it does not understand this.
  private static String said(TestServer testServer, String path, String text) throws Exception {
    var heard = new CompletableFuture<String>();
    var listener =
        new WebSocket.Listener() {
          @Override
          public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            if (data.toString().contains("error")) {
              heard.complete(data.toString());
            }
            socket.request(1);
            return CompletableFuture.completedFuture(null);
          }
        };
    var url = URI.create(testServer.url.toString().replaceFirst("http", "ws") + path);
    var socket =
        testServer.http.newWebSocketBuilder().buildAsync(url, listener).get(60, TimeUnit.SECONDS);
    socket.sendText(text, true).get(60, TimeUnit.SECONDS);
    var answer = heard.get(60, TimeUnit.SECONDS);
    socket.abort();
    return answer;
  }
}
