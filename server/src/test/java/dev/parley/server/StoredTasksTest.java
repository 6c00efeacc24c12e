package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Tasks that agents elsewhere store: S3-F.
@Timeout(120)
class StoredTasksTest {

  @TempDir Path folder;
  private Site site;

  private Kagent open(Site.Wish wish) {
    site = Site.durable(folder, wish);
    return new Kagent(site);
  }

  private Kagent open() {
    return open(Site.Wish.USUAL);
  }

  @AfterEach
  void close() {
    site.close();
  }

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
        .readTree(site.get("/api/contexts/" + context + "/messages").body())
        .path("items")
        .valueStream()
        .map(message -> message.path("content").asString())
        .toList();
  }

  private static JsonNode saved(Kagent kagent, ObjectNode task) {
    return Kagent.data(201, kagent.post("/api/tasks", task));
  }

  @Test
  void a_task_is_stored_and_shown_through_every_door_S3_33_S3_34() {
    var kagent = open();

    var saved = saved(kagent, task("t1", "s", "completed", "hi", "hello"));

    assertThat(saved.path("id").asString()).isEqualTo("t1");
    assertThat(Kagent.data(200, kagent.get("/api/tasks/t1"))).isEqualTo(saved);
    assertThat(kagent.tasks("s")).containsExactly(saved);
    assertThat(kagent.conversation("s")).containsExactly("hi", "hello");
    assertThat(nativeMessages("s")).containsExactly("hi", "hello");
    assertThat(site.get("/chat/conversations/s/messages").body()).contains("hello");
    assertThat(site.get("/api/contexts/s/tasks/t1").body()).contains("\"completed\"");
    assertThat(
            saved.path("history").path(1).path("metadata").path("kagent_invocation_id").asString())
        .isEqualTo("t1"); // S3.42
    kagent.say("s", "say more");
    assertThat(kagent.conversation("s")).containsExactly("hi", "hello", "say more", "more");
    var unnamed = task("", "s", "completed", "x", "y");
    unnamed.remove("id");
    assertThat(saved(kagent, unnamed).path("id").asString()).isNotEmpty();
    var late = site.get("/api/tasks/t1", "A2A-Version", "1.0");
    assertThat(Kagent.data(200, late).path("status").path("state").asString())
        .isEqualTo("TASK_STATE_COMPLETED");
  }

  @Test
  void the_same_id_updates_one_task_S3_36() {
    var kagent = open();
    saved(kagent, task("t1", "s", "working", "hi"));
    assertThat(kagent.tasks("s")).hasSize(1);
    assertThat(nativeMessages("s")).isEmpty();

    saved(kagent, task("t1", "s", "completed", "hi", "hello"));
    saved(kagent, task("t1", "s", "completed", "hi", "hello", "and", "bye"));
    saved(kagent, task("t2", "s", "completed", "hi", "hello", "new", "one"));

    assertThat(kagent.tasks("s")).hasSize(2);
    assertThat(nativeMessages("s")).containsExactly("hi", "hello", "and", "bye", "new", "one");
    assertThat(kagent.conversation("s")).containsExactly("hi", "hello", "and", "bye", "new", "one");
    site.close();
    kagent = open();
    assertThat(kagent.conversation("s")).containsExactly("hi", "hello", "and", "bye", "new", "one");
  }

  @Test
  void what_was_said_in_part_is_not_kept_S3_38() {
    var kagent = open();
    var task = task("t1", "s", "completed", "hi", "hel", "hello");
    for (var i = 1; i < 3; i++) {
      var message = (ObjectNode) task.path("history").get(i);
      message.put("role", "agent");
      message.putObject("metadata").put("kagent_adk_partial", i == 1);
    }

    saved(kagent, task);

    assertThat(kagent.conversation("s")).containsExactly("hi", "hello");
  }

  @Test
  void a_deleted_task_is_hidden_and_its_id_is_not_used_again_S3_35_S3_37() {
    var kagent = open();
    saved(kagent, task("t1", "s", "completed", "hi", "hello"));
    saved(kagent, task("t2", "s", "working", "x"));
    var own = kagent.say("s", "say more");

    for (var id : List.of("t1", "t2", own)) {
      assertThat(kagent.delete("/api/tasks/" + id).statusCode()).isEqualTo(204);
      Kagent.error(404, kagent.get("/api/tasks/" + id));
      Kagent.error(404, kagent.delete("/api/tasks/" + id));
      Kagent.error(409, kagent.post("/api/tasks", task(id, "s", "completed", "again")));
    }

    assertThat(kagent.tasks("s")).isEmpty();
    assertThat(nativeMessages("s")).isEmpty();
    assertThat(site.get("/api/contexts/s/events?limit=1000").body()).contains("say more", "hello");
    var running = kagent.said("s", "count slowly to 500");
    assertThat(Kagent.error(409, kagent.delete("/api/tasks/" + running))).contains("cancel");
    site.post("/api/contexts/s/tasks/" + running + "/cancel", "{}");
    kagent.ended("s", running);
  }

  @Test
  void what_ran_here_cannot_be_replaced() {
    var kagent = open();
    kagent.post("/api/sessions", Json.object().put("id", "s"));
    var own = kagent.say("s", "say A");
    var shown = Kagent.data(200, kagent.get("/api/tasks/" + own));

    assertThat(saved(kagent, (ObjectNode) shown)).isEqualTo(shown);
    Kagent.error(409, kagent.post("/api/tasks", task(own, "s", "completed", "forged")));
    Kagent.error(409, kagent.post("/api/tasks", task(own, "elsewhere", "completed", "forged")));

    assertThat(kagent.conversation("s")).containsExactly("say A", "A");
  }

  @Test
  void a_rewind_takes_stored_tasks_back_and_a_late_save_does_not_undo_it_S3_46() {
    var kagent = open();
    saved(kagent, task("t1", "s", "completed", "a", "b"));
    var second = task("t2", "s", "completed", "c", "d");
    for (var message : second.path("history")) {
      ((ObjectNode) message).putObject("metadata").put("adk_invocation_id", "turn-2");
    }
    saved(kagent, second);
    saved(kagent, task("t3", "s", "working", "e"));

    var body = Json.object().put("rewind_before_invocation_id", "turn-2");
    Kagent.data(200, kagent.post("/api/sessions/s/rewind", body));

    assertThat(kagent.conversation("s")).containsExactly("a", "b");
    assertThat(nativeMessages("s")).containsExactly("a", "b");
    for (var task : List.of(second, task("t3", "s", "completed", "e", "f"))) {
      Kagent.error(409, kagent.post("/api/tasks", task));
    }
    assertThat(kagent.conversation("s")).containsExactly("a", "b");
  }

  @Test
  void hidden_and_edited_messages_are_so_in_stored_tasks_too() {
    var kagent = open();
    saved(kagent, task("t1", "s", "completed", "a", "b", "c", "d"));
    site.send(site.request("/api/contexts/s/messages/b").DELETE());
    new Chat(site).send("PATCH", "/chat/conversations/s/messages/c", "{\"content\":\"C\"}");

    assertThat(kagent.conversation("s")).containsExactly("a", "C", "d");
    assertThat(nativeMessages("s")).containsExactly("a", "C", "d");
  }

  @Test
  void tasks_of_others_cannot_be_read_nor_written_S3_37() throws Exception {
    open(Site.Wish.USUAL.tokens(token("ann"), token("bob")));
    var ann = new Kagent(site, "Authorization", "Bearer ann");
    var bob = new Kagent(site, "Authorization", "Bearer bob");
    saved(ann, task("t1", "s", "completed", "hi", "hello"));

    Kagent.error(404, bob.get("/api/tasks/t1"));
    Kagent.error(404, bob.delete("/api/tasks/t1"));
    Kagent.error(404, bob.get("/api/sessions/s/tasks"));
    Kagent.error(409, bob.post("/api/tasks", task("t1", "s", "completed", "x")));
    Kagent.error(409, bob.post("/api/tasks", task("t1", "mine", "completed", "x")));
    Kagent.error(409, bob.post("/api/tasks", task("t2", "s", "completed", "x")));

    assertThat(ann.conversation("s")).containsExactly("hi", "hello");
  }

  @Test
  void two_who_store_into_the_same_new_session_at_once_do_not_both_get_it_S3_37() throws Exception {
    open(Site.Wish.USUAL.tokens(token("ann"), token("bob")));
    var people =
        List.of(
            new Kagent(site, "Authorization", "Bearer ann"),
            new Kagent(site, "Authorization", "Bearer bob"));
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
    var kagent = open();
    var wrong =
        List.of(
            task("no id", "s", "completed", "x"),
            task("t", "no session", "completed", "x"),
            task("t", "s", "completed", "no message id"),
            task("t", "s", "completed").set("history", Json.object()),
            task("t", "s", "completed").put("status", 7).put("history", 7));

    for (var task : wrong) {
      Kagent.error(400, kagent.post("/api/tasks", task));
    }
    Kagent.error(400, kagent.post("/api/tasks", Json.mapper().createArrayNode()));
    Kagent.error(404, kagent.get("/api/tasks/none"));

    assertThat(site.get("/api/contexts").body()).contains("\"items\":[]");
  }
}
