package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Tasks that agents elsewhere store: SESSION-F.
@Timeout(120)
class StoredTasksTest extends KagentFixture {

  /// A task with messages `id` and their text, of the user and the agent in turn.
  private static ObjectNode task(String id, String session, String state, String... messages) {
    var task = Json.object().put("kind", "task").put("id", id).put("contextId", session);
    task.putObject("status").put("state", state);
    var history = task.putArray("history");
    for (var i = 0; i < messages.length; i++) {
      var message = history.addObject().put("kind", "message").put("messageId", messages[i]);
      message.put("role", i % 2 == 0 ? "user" : "agent");
      message.putArray("parts").addObject().put("kind", "text").put("text", messages[i]);
    }
    return task;
  }

  private List<String> nativeMessages(String context) {
    return Json.mapper()
        .readTree(testServer.get("/api/contexts/" + context + "/messages").body())
        .path("items")
        .valueStream()
        .map(message -> message.path("content").asString())
        .toList();
  }

  private static JsonNode saved(KagentTestClient kagentTestClient, ObjectNode task) {
    return KagentTestClient.data(201, kagentTestClient.post("/api/tasks", task));
  }

  @Test
  void a_task_is_stored_and_shown_through_every_api_SESSION_33_SESSION_34() {
    var kagentTestClient = open();

    var saved = saved(kagentTestClient, task("t1", "s", "completed", "hi", "hello"));

    assertThat(saved.path("id").asString()).isEqualTo("t1");
    assertThat(KagentTestClient.data(200, kagentTestClient.get("/api/tasks/t1"))).isEqualTo(saved);
    assertThat(kagentTestClient.tasks("s")).containsExactly(saved);
    assertThat(kagentTestClient.conversation("s")).containsExactly("hi", "hello");
    assertThat(nativeMessages("s")).containsExactly("hi", "hello");
    assertThat(testServer.get("/chat/conversations/s/messages").body()).contains("hello");
    assertThat(testServer.get("/api/contexts/s/tasks/t1").body()).contains("\"completed\"");
    assertThat(
            saved.path("history").path(1).path("metadata").path("kagent_invocation_id").asString())
        .isEqualTo("t1"); // SESSION-42
    kagentTestClient.say("s", "say more");
    assertThat(kagentTestClient.conversation("s"))
        .containsExactly("hi", "hello", "say more", "more");
    var unnamed = task("", "s", "completed", "x", "y");
    unnamed.remove("id");
    assertThat(saved(kagentTestClient, unnamed).path("id").asString()).isNotEmpty();
    var late = testServer.get("/api/tasks/t1", "A2A-Version", "1.0");
    assertThat(KagentTestClient.data(200, late).path("status").path("state").asString())
        .isEqualTo("TASK_STATE_COMPLETED");
  }

  @Test
  void the_same_id_updates_one_task_SESSION_36() {
    var kagentTestClient = open();
    saved(kagentTestClient, task("t1", "s", "working", "hi"));
    assertThat(kagentTestClient.tasks("s")).hasSize(1);
    assertThat(nativeMessages("s")).isEmpty();

    saved(kagentTestClient, task("t1", "s", "completed", "hi", "hello"));
    saved(kagentTestClient, task("t1", "s", "completed", "hi", "hello", "and", "bye"));
    saved(kagentTestClient, task("t2", "s", "completed", "hi", "hello", "new", "one"));

    assertThat(kagentTestClient.tasks("s")).hasSize(2);
    assertThat(nativeMessages("s")).containsExactly("hi", "hello", "and", "bye", "new", "one");
    assertThat(kagentTestClient.conversation("s"))
        .containsExactly("hi", "hello", "and", "bye", "new", "one");
    testServer.close();
    kagentTestClient = open();
    assertThat(kagentTestClient.conversation("s"))
        .containsExactly("hi", "hello", "and", "bye", "new", "one");
  }

  @Test
  void what_was_said_in_part_is_not_kept_SESSION_38() {
    var kagentTestClient = open();
    var task = task("t1", "s", "completed", "hi", "hel", "hello");
    for (var i = 1; i < 3; i++) {
      var message = (ObjectNode) task.path("history").get(i);
      message.put("role", "agent");
      message.putObject("metadata").put("kagent_adk_partial", i == 1);
    }

    saved(kagentTestClient, task);

    assertThat(kagentTestClient.conversation("s")).containsExactly("hi", "hello");
  }

  @Test
  void a_deleted_task_is_hidden_and_its_id_is_not_used_again_SESSION_35_SESSION_37() {
    var kagentTestClient = open();
    saved(kagentTestClient, task("t1", "s", "completed", "hi", "hello"));
    saved(kagentTestClient, task("t2", "s", "working", "x"));
    var own = kagentTestClient.say("s", "say more");

    for (var id : List.of("t1", "t2", own)) {
      assertThat(kagentTestClient.delete("/api/tasks/" + id).statusCode()).isEqualTo(204);
      KagentTestClient.error(404, kagentTestClient.get("/api/tasks/" + id));
      KagentTestClient.error(404, kagentTestClient.delete("/api/tasks/" + id));
      KagentTestClient.error(
          409, kagentTestClient.post("/api/tasks", task(id, "s", "completed", "again")));
    }

    assertThat(kagentTestClient.tasks("s")).isEmpty();
    assertThat(nativeMessages("s")).isEmpty();
    assertThat(testServer.get("/api/contexts/s/events?limit=1000").body())
        .contains("say more", "hello");
    var running = kagentTestClient.said("s", "count slowly to 500");
    assertThat(KagentTestClient.error(409, kagentTestClient.delete("/api/tasks/" + running)))
        .contains("cancel");
    testServer.post("/api/contexts/s/tasks/" + running + "/cancel", "{}");
    kagentTestClient.ended("s", running);
  }

  @Test
  void what_ran_here_cannot_be_replaced() {
    var kagentTestClient = open();
    kagentTestClient.post("/api/sessions", Json.object().put("id", "s"));
    var own = kagentTestClient.say("s", "say A");
    var shown = KagentTestClient.data(200, kagentTestClient.get("/api/tasks/" + own));

    assertThat(saved(kagentTestClient, (ObjectNode) shown)).isEqualTo(shown);
    KagentTestClient.error(
        409, kagentTestClient.post("/api/tasks", task(own, "s", "completed", "forged")));
    KagentTestClient.error(
        409, kagentTestClient.post("/api/tasks", task(own, "elsewhere", "completed", "forged")));

    assertThat(kagentTestClient.conversation("s")).containsExactly("say A", "A");
  }

  @Test
  void a_rewind_takes_stored_tasks_back_and_a_late_save_does_not_undo_it_SESSION_46() {
    var kagentTestClient = open();
    saved(kagentTestClient, task("t1", "s", "completed", "a", "b"));
    var second = task("t2", "s", "completed", "c", "d");
    for (var message : second.path("history")) {
      ((ObjectNode) message).putObject("metadata").put("adk_invocation_id", "turn-2");
    }
    saved(kagentTestClient, second);
    saved(kagentTestClient, task("t3", "s", "working", "e"));

    var body = Json.object().put("rewind_before_invocation_id", "turn-2");
    KagentTestClient.data(200, kagentTestClient.post("/api/sessions/s/rewind", body));

    assertThat(kagentTestClient.conversation("s")).containsExactly("a", "b");
    assertThat(nativeMessages("s")).containsExactly("a", "b");
    for (var task : List.of(second, task("t3", "s", "completed", "e", "f"))) {
      KagentTestClient.error(409, kagentTestClient.post("/api/tasks", task));
    }
    assertThat(kagentTestClient.conversation("s")).containsExactly("a", "b");
  }

  @Test
  void hidden_and_edited_messages_are_so_in_stored_tasks_too() {
    var kagentTestClient = open();
    saved(kagentTestClient, task("t1", "s", "completed", "a", "b", "c", "d"));
    testServer.send(testServer.request("/api/contexts/s/messages/b").DELETE());
    new ChatTestClient(testServer)
        .send("PATCH", "/chat/conversations/s/messages/c", "{\"content\":\"C\"}");

    assertThat(kagentTestClient.conversation("s")).containsExactly("a", "C", "d");
    assertThat(nativeMessages("s")).containsExactly("a", "C", "d");
  }

  @Test
  void tasks_of_others_cannot_be_read_nor_written_SESSION_37() throws Exception {
    open(TestServer.Wish.USUAL.tokens(token("ann"), token("bob")));
    var ann = new KagentTestClient(testServer, "Authorization", "Bearer ann");
    var bob = new KagentTestClient(testServer, "Authorization", "Bearer bob");
    saved(ann, task("t1", "s", "completed", "hi", "hello"));

    KagentTestClient.error(404, bob.get("/api/tasks/t1"));
    KagentTestClient.error(404, bob.delete("/api/tasks/t1"));
    KagentTestClient.error(404, bob.get("/api/sessions/s/tasks"));
    KagentTestClient.error(409, bob.post("/api/tasks", task("t1", "s", "completed", "x")));
    KagentTestClient.error(409, bob.post("/api/tasks", task("t1", "mine", "completed", "x")));
    KagentTestClient.error(409, bob.post("/api/tasks", task("t2", "s", "completed", "x")));

    assertThat(ann.conversation("s")).containsExactly("hi", "hello");
  }

  @Test
  void two_who_store_into_the_same_new_session_at_once_do_not_both_get_it_SESSION_37()
      throws Exception {
    open(TestServer.Wish.USUAL.tokens(token("ann"), token("bob")));
    var people =
        List.of(
            new KagentTestClient(testServer, "Authorization", "Bearer ann"),
            new KagentTestClient(testServer, "Authorization", "Bearer bob"));
    for (var round = 0; round < 25; round++) {
      var session = "s" + round;
      var start = new CyclicBarrier(people.size());
      var stored = new ArrayList<Future<Integer>>();
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        for (var i = 0; i < people.size(); i++) {
          var person = people.get(i);
          var task = task("t" + round + "-" + i, session, "completed", "m" + round + "-" + i);
          stored.add(
              threads.submit(
                  () -> {
                    start.await();
                    return person.post("/api/tasks", task).statusCode();
                  }));
        }
      }
      assertThat(List.of(stored.get(0).get(), stored.get(1).get()))
          .containsExactlyInAnyOrder(201, 409);
      var owner = people.get(stored.get(0).get() == 201 ? 0 : 1);
      assertThat(owner.tasks(session)).hasSize(1);
    }
  }

  private static ApiToken token(String name) throws Exception {
    var bytes = name.getBytes(StandardCharsets.UTF_8);
    var hash = MessageDigest.getInstance("SHA-256").digest(bytes);
    return new ApiToken(name, HexFormat.of().formatHex(hash));
  }

  @Test
  void what_makes_no_sense_is_refused_and_leaves_no_trace() {
    var kagentTestClient = open();
    var wrong =
        List.of(
            task("no id", "s", "completed", "x"),
            task("t", "no session", "completed", "x"),
            task("t", "s", "completed", "no message id"),
            task("t", "s", "completed").set("history", Json.object()),
            task("t", "s", "completed").put("status", 7).put("history", 7));

    for (var task : wrong) {
      KagentTestClient.error(400, kagentTestClient.post("/api/tasks", task));
    }
    KagentTestClient.error(
        400, kagentTestClient.post("/api/tasks", Json.mapper().createArrayNode()));
    KagentTestClient.error(404, kagentTestClient.get("/api/tasks/none"));

    assertThat(testServer.get("/api/contexts").body()).contains("\"items\":[]");
  }
}
