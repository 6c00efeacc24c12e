package dev.parley.server;

import static dev.parley.server.InboxTest.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;

/// A person skips what a task asks, and the task goes on without an answer.
@Timeout(120)
class SkippedQuestionsTest {

  private static final JsonNode SKIPPED = Json.object().put("skipped", true);

  @TempDir Path folder;

  private final SecretLeaks secretLeaks = new SecretLeaks();

  @AfterEach
  void close() {
    secretLeaks.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"question\":\"which?\"}",
        "{\"question\":\"which?\",\"options\":[\"a\",\"b\"]}",
        "{\"question\":\"which?\",\"schema\":{\"type\":\"object\",\"required\":[\"n\"]}}",
      })
  void a_question_of_any_kind_can_be_skipped_and_the_model_is_told(String question) {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "use ask_user " + question);

      var answer = testUser.answer(context, inputOf(testUser, context), SKIPPED);

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
      var received = testUser.await(context, "input-received");
      assertThat(received.path("value")).isEqualTo(SKIPPED);
      assertThat(received.path("providedBy").asString()).isEqualTo("user");
      var done = testUser.await(context, "tool-complete");
      assertThat(done.path("success").asBoolean()).isFalse();
      assertThat(done.path("error").asString()).contains("the person skipped this question");
      testUser.await(context, "task-complete");
    }
  }

  @Test
  void an_approval_cannot_be_skipped() {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "run echo hello");
      var input = inputOf(testUser, context);

      assertProblem(testUser.answer(context, input, SKIPPED), 400, "invalid-answer");

      assertThat(testUser.answer(context, input, BooleanNode.FALSE).statusCode()).isEqualTo(202);
    }
  }

  @Test
  void a_sign_in_can_be_skipped_and_the_model_is_told() {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "sign in to api.example.org");
      var auth = testUser.await(context, "auth-required").path("authId").asString();
      var path = "/api/contexts/" + context + "/auths/" + auth;
      var both = Json.object().put("skipped", true).put("credential", "key");

      assertProblem(testUser.post(path, both), 400, "invalid");
      var answer = testUser.post(path, SKIPPED);

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
      var lapsed = testUser.await(context, "auth-lapsed");
      assertThat(lapsed.path("reason").asString()).isEqualTo("the person skipped this sign-in");
      assertThat(testUser.await(context, "tool-complete").path("error").asString())
          .contains("the person skipped this sign-in");
      testUser.await(context, "task-complete");
      assertProblem(testUser.post(path, SKIPPED), 409, "not-wanted");
    }
  }

  @Test
  void an_approval_says_in_one_line_what_the_call_does() {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "run echo hello");
      var asked = testUser.await(context, "input-required");

      assertThat(asked.at("/metadata/summary").asString())
          .isEqualTo("Runs a command on this machine");
    }
  }

  private static String inputOf(TestUser testUser, ContextId context) {
    return testUser.await(context, "input-required").path("inputId").asString();
  }
}
