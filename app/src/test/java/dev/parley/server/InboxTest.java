package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.StringNode;

/// People answer what tasks ask, over HTTP.
@Timeout(120)
class InboxTest {

  @TempDir Path folder;

  private final SecretLeaks secretLeaks = new SecretLeaks();

  @AfterEach
  void close() {
    secretLeaks.close();
  }

  @Test
  void a_call_is_approved_over_http_and_happens_once() throws Exception {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "run echo hi > made.txt");
      var asked = testUser.await(context, "input-required");
      assertThat(asked.path("inputType").asString()).isEqualTo("confirmation");

      var answer = testUser.answer(context, asked.path("inputId").asString(), BooleanNode.TRUE);

      assertThat(answer.statusCode()).isEqualTo(202);
      assertThat(Json.mapper().readTree(answer.body()).path("seq").asLong()).isPositive();
      testUser.await(context, "task-complete");
      assertThat(Files.readString(folder.resolve("made.txt"))).isEqualTo("hi\n");
      assertThat(testUser.json("/api/inbox").path("items")).isEmpty();
    }
  }

  @Test
  void a_call_that_is_not_allowed_does_not_happen_and_the_reason_is_told() throws Exception {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "run touch made.txt");
      var asked = testUser.await(context, "input-required");
      var no = Json.object().put("approved", false).put("reason", "not on a Friday");

      testUser.answer(context, asked.path("inputId").asString(), no);

      var ended = testUser.await(context, "tool-complete");
      assertThat(ended.path("success").asBoolean()).isFalse();
      assertThat(ended.path("error").asString()).contains("not on a Friday");
      assertThat(folder.resolve("made.txt")).doesNotExist();
    }
  }

  @Test
  void EVENT_30_answers_that_are_unknown_unfit_or_late_are_refused() throws Exception {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "run echo hi");
      var input = testUser.await(context, "input-required").path("inputId").asString();

      assertProblem(testUser.answer(context, "other", BooleanNode.TRUE), 404, "not-found");
      assertProblem(
          testUser.answer(context, input, StringNode.valueOf("maybe")), 400, "invalid-answer");
      assertProblem(
          testUser.post("/api/contexts/c/inputs/" + input, Json.object()), 400, "invalid-answer");
      var first = testUser.answer(context, input, BooleanNode.TRUE, "Idempotency-Key", "k");
      assertThat(first.statusCode()).isEqualTo(202);
      var again = testUser.answer(context, input, BooleanNode.TRUE, "Idempotency-Key", "k");
      assertThat(again.statusCode()).isEqualTo(202);
      assertThat(again.body()).isEqualTo(first.body());
      assertProblem(
          testUser.answer(context, input, BooleanNode.FALSE, "Idempotency-Key", "k"),
          409,
          "idempotency-key-reused");
      assertProblem(testUser.answer(context, input, BooleanNode.TRUE), 409, "not-wanted");
    }
  }

  @Test
  void of_answers_that_race_exactly_one_is_taken() throws Exception {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      for (var round = 0; round < 10; round++) {
        var context = testUser.say("c" + round, "ask me the colour");
        var input = testUser.await(context, "input-required").path("inputId").asString();
        var racers = new ArrayList<Callable<Integer>>();
        for (var color : List.of("red", "green", "blue", "black")) {
          racers.add(() -> testUser.answer(context, input, StringNode.valueOf(color)).statusCode());
        }

        var codes = new ArrayList<Integer>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
          for (var done : threads.invokeAll(racers)) {
            codes.add(done.get());
          }
        }

        assertThat(codes).containsExactlyInAnyOrder(202, 409, 409, 409);
        testUser.await(context, "task-complete");
      }
    }
  }

  @Test
  void the_inbox_has_what_waits_in_all_contexts_oldest_first_in_pages() throws Exception {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      for (var i = 0; i < 5; i++) {
        var context = testUser.say("c" + i, i % 2 == 0 ? "ask me q" + i : "sign in to s" + i);
        testUser.await(context, i % 2 == 0 ? "input-required" : "auth-required");
      }
      var found = new ArrayList<JsonNode>();
      var cursor = "";
      do {
        var page = testUser.json("/api/inbox?limit=2" + cursor);
        page.path("items").forEach(found::add);
        cursor = page.has("nextCursor") ? "&cursor=" + page.path("nextCursor").asString() : "";
      } while (!cursor.isEmpty());

      assertThat(found)
          .extracting(item -> item.path("contextId").asString())
          .containsExactly("c0", "c1", "c2", "c3", "c4");
      assertThat(found.get(0).path("kind").asString()).isEqualTo("input");
      assertThat(found.get(0).path("prompt").asString()).contains("q0");
      assertThat(found.get(0).path("title").asString()).isEqualTo("ask me q0");
      assertThat(found.get(0).path("taskId").asString()).isNotEmpty();
      assertThat(found.get(0).path("agentId").asString()).isEqualTo("agent-code");
      assertThat(found.get(1).path("kind").asString()).isEqualTo("auth");
      assertThat(found.get(1).path("authId").asString()).isNotEmpty();
      assertThat(found.get(1).path("provider").asString()).isEqualTo("s1");
      assertProblem(testUser.get("/api/inbox?cursor=nonsense"), 400, "invalid-cursor");
    }
  }

  @Test
  void nobody_sees_or_answers_what_others_are_asked() throws Exception {
    try (var testServer =
        TestServer.durable(folder, TestServer.Wish.USUAL.tokens(token("ann"), token("bob")))) {
      var ann = new TestUser(testServer, secretLeaks, "Authorization", "Bearer secret-ann");
      var bob = new TestUser(testServer, secretLeaks, "Authorization", "Bearer secret-bob");
      var anns = ann.say("a", "ask me one");
      var bobs = bob.say("b", "sign in to somewhere");
      var input = ann.await(anns, "input-required").path("inputId").asString();
      var auth = bob.await(bobs, "auth-required").path("authId").asString();

      assertThat(contexts(ann)).containsExactly("a");
      assertThat(contexts(bob)).containsExactly("b");
      assertProblem(bob.answer(anns, input, StringNode.valueOf("x")), 404, "not-found");
      assertProblem(bob.answer(bobs, input, StringNode.valueOf("x")), 404, "not-found");
      assertProblem(ann.signIn(bobs, auth, "credential", "x"), 404, "not-found");
      assertProblem(ann.signIn(anns, auth, "credential", "x"), 404, "not-found");
      assertThat(new TestUser(testServer, secretLeaks).get("/api/inbox").statusCode())
          .isEqualTo(401);
      var resume = Json.object();
      resume.putArray("inputs").addObject().put("inputId", input).put("value", "x");
      assertProblem(bob.post("/api/contexts/a/resume", resume), 404, "not-found");
    }
  }

  @Test
  void EVENT_34_several_things_are_answered_at_once_each_by_itself() throws Exception {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "ask me one");
      var input = testUser.await(context, "input-required").path("inputId").asString();
      var resume = Json.object().put("type", "resume");
      resume.putArray("inputs").addObject().put("inputId", "other").put("value", "x");

      assertProblem(testUser.post("/api/contexts/c/resume", resume), 404, "not-found");
      assertProblem(testUser.post("/api/contexts/c/resume", Json.object()), 400, "invalid");

      resume.withArray("inputs").addObject().put("inputId", input).put("value", "red");
      var answer = testUser.post("/api/contexts/c/resume", resume, "Idempotency-Key", "k");
      assertThat(answer.statusCode()).isEqualTo(202);
      var result = Json.mapper().readTree(answer.body());
      assertThat(result.at("/accepted/0/inputId").asString()).isEqualTo(input);
      assertThat(result.at("/refused/0/code").asString()).isEqualTo("not-found");
      testUser.await(context, "task-complete");

      assertThat(testUser.post("/api/contexts/c/resume", resume, "Idempotency-Key", "k").body())
          .isEqualTo(answer.body());
      assertProblem(testUser.post("/api/contexts/c/resume", resume), 409, "nothing-pending");
    }
  }

  static ApiToken token(String name) throws Exception {
    var hash =
        MessageDigest.getInstance("SHA-256")
            .digest(("secret-" + name).getBytes(StandardCharsets.UTF_8));
    return new ApiToken(name, HexFormat.of().formatHex(hash));
  }

  private static List<String> contexts(TestUser testUser) {
    var contexts = new ArrayList<String>();
    testUser
        .json("/api/inbox")
        .path("items")
        .forEach(item -> contexts.add(item.path("contextId").asString()));
    return contexts;
  }

  static void assertProblem(java.net.http.HttpResponse<String> answer, int status, String code) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(Json.mapper().readTree(answer.body()).path("code").asString()).isEqualTo(code);
  }
}
