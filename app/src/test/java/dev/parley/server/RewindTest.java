package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Going back, and going another way, through the native API (SESSION-G, CORE-13, CORE-17).
@Timeout(120)
class RewindTest {

  private static final ContextId C = new ContextId("c1");
  private static final String CONTEXT = "/api/contexts/c1";

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL);
    testServer.post("/api/contexts", "{\"contextId\":\"c1\",\"title\":\"Talk\"}");
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  private static JsonNode json(HttpResponse<String> reply) {
    return Json.mapper().readTree(reply.body());
  }

  private static String code(HttpResponse<String> reply) {
    return json(reply).path("code").asString();
  }

  /// Says something and waits until it was answered.
  private JsonNode say(String path, String text) {
    var accepted = json(testServer.post(path + "/messages", "{\"content\":\"" + text + "\"}"));
    var context = new ContextId(accepted.path("contextId").asString());
    var task = new TaskId(accepted.path("taskId").asString());
    var at = Position.of(accepted.path("seq").asLong());
    try {
      while (true) {
        testServer.log.await(context, at, Duration.ofSeconds(30));
        for (var entry : testServer.log.read(context, at, 100)) {
          at = entry.position();
          if (task.equals(entry.taskId()) && entry.event() instanceof TaskComplete) {
            return accepted;
          }
        }
      }
    } catch (InterruptedException told) {
      throw new AssertionError(told);
    }
  }

  private List<String> messages(String path) {
    return json(testServer.get(path + "/messages"))
        .path("items")
        .valueStream()
        .map(message -> message.path("content").asString())
        .toList();
  }

  private HttpResponse<String> rewind(String body, String... headers) {
    return testServer.post(CONTEXT + "/rewind", body, headers);
  }

  private static String before(JsonNode accepted) {
    return "{\"beforeTaskId\":\"" + accepted.path("taskId").asString() + "\"}";
  }

  @Test
  void a_context_goes_back_to_before_a_task_and_on_from_there() { // SESSION-27, SESSION-43,
    // SESSION-45, SESSION-47
    say(CONTEXT, "say A");
    var second = say(CONTEXT, "say B");
    var third = say(CONTEXT, "say C");
    var head = testServer.log.head(C).seq();

    var rewound = rewind(before(second));

    assertThat(rewound.statusCode()).isEqualTo(200);
    assertThat(json(rewound).path("seq").asLong()).isEqualTo(head + 1);
    assertThat(json(rewound).path("toSeq").asLong()).isEqualTo(second.path("seq").asLong() - 1);
    assertThat(messages(CONTEXT)).containsExactly("say A", "A");
    assertThat(json(testServer.get(CONTEXT + "/tasks")).path("items")).hasSize(2);
    assertThat(testServer.get(CONTEXT + "/events?after=0&limit=1000").body()).contains("say C");
    say(CONTEXT, "say D");
    assertThat(messages(CONTEXT)).containsExactly("say A", "A", "say D", "D");
    assertThat(code(rewind(before(third)))).isEqualTo("already-rewound");
    assertThat(messages(CONTEXT)).containsExactly("say A", "A", "say D", "D");
  }

  @Test
  void going_back_before_everything_leaves_a_context_that_can_be_used() { // SESSION-50
    var first = say(CONTEXT, "say A");
    say(CONTEXT, "say B");
    var message = "{\"beforeMessageId\":\"" + first.path("messageId").asString() + "\"}";

    assertThat(rewind(message).statusCode()).isEqualTo(200);

    assertThat(messages(CONTEXT)).isEmpty();
    say(CONTEXT, "say again");
    assertThat(messages(CONTEXT)).containsExactly("say again", "again");
  }

  @Test
  void a_rewind_can_itself_be_taken_back() { // SESSION-55
    say(CONTEXT, "say A");
    var second = say(CONTEXT, "say B");
    var head = testServer.log.head(C).seq();
    rewind(before(second));
    say(CONTEXT, "say C");

    assertThat(rewind("{\"toSeq\":" + head + "}").statusCode()).isEqualTo(200);

    assertThat(messages(CONTEXT)).containsExactly("say A", "A", "say B", "B");
    assertThat(rewind(before(second)).statusCode()).isEqualTo(200);
    assertThat(messages(CONTEXT)).containsExactly("say A", "A");
  }

  @Test
  void what_makes_no_sense_is_refused_and_changes_nothing() { // SESSION-49
    var first = say(CONTEXT, "say A");
    var head = testServer.log.head(C).seq();
    var answer = json(testServer.get(CONTEXT + "/messages")).path("items").get(1).path("messageId");

    for (var body : List.of("{}", "{\"toSeq\":1,\"beforeTaskId\":\"x\"}")) {
      assertThat(rewind(body).statusCode()).as(body).isEqualTo(400);
    }
    for (var seq : new long[] {0, -1, head + 1}) {
      assertThat(code(rewind("{\"toSeq\":" + seq + "}"))).isEqualTo("invalid-seq");
    }
    assertThat(rewind("{\"beforeTaskId\":\"unknown\"}").statusCode()).isEqualTo(404);
    assertThat(rewind("{\"beforeMessageId\":\"unknown\"}").statusCode()).isEqualTo(404);
    var inside = first.path("seq").asLong() + 2;
    assertThat(code(rewind("{\"toSeq\":" + inside + "}"))).isEqualTo("inside-task");
    assertThat(code(rewind("{\"beforeMessageId\":\"" + answer.asString() + "\"}")))
        .isEqualTo("inside-task");
    assertThat(testServer.log.head(C).seq()).isEqualTo(head);
  }

  @Test
  void a_context_at_work_is_not_taken_back() throws InterruptedException { // CORE-13
    var first = say(CONTEXT, "say A");
    var running =
        json(testServer.post(CONTEXT + "/messages", "{\"content\":\"count slowly to 500\"}"));

    assertThat(code(rewind(before(first)))).isEqualTo("busy");

    testServer.post(CONTEXT + "/tasks/" + running.path("taskId").asString() + "/cancel", "{}");
    for (var at = testServer.log.head(C);
        testServer.log.inspect(C, state -> !state.openTasks().isEmpty());
        at = testServer.log.head(C)) {
      testServer.log.await(C, at, Duration.ofSeconds(30));
    }
    assertThat(rewind(before(first)).statusCode()).isEqualTo(200);
    assertThat(messages(CONTEXT)).isEmpty();
  }

  @Test
  void of_many_who_go_back_at_once_one_wins() throws Exception { // CORE-13
    var first = say(CONTEXT, "say A");
    var codes = new ArrayList<Integer>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var replies = new ArrayList<Future<Integer>>();
      for (var i = 0; i < 8; i++) {
        replies.add(threads.submit(() -> rewind(before(first)).statusCode()));
      }
      for (var reply : replies) {
        codes.add(reply.get());
      }
    }
    assertThat(codes).containsOnly(200, 409).containsOnlyOnce(200);
  }

  @Test
  void the_same_rewind_sent_twice_is_one() { // CORE-7
    say(CONTEXT, "say A");
    var second = say(CONTEXT, "say B");

    var once = rewind(before(second), "Idempotency-Key", "k1");
    say(CONTEXT, "say C");
    var again = rewind(before(second), "Idempotency-Key", "k1");
    var other = rewind("{\"toSeq\":1}", "Idempotency-Key", "k1");

    assertThat(again.statusCode()).isEqualTo(200);
    assertThat(again.body()).isEqualTo(once.body());
    assertThat(code(other)).isEqualTo("idempotency-key-reused");
    assertThat(messages(CONTEXT)).containsExactly("say A", "A", "say C", "C");
  }

  @Test
  void artifacts_and_state_go_back_and_versions_are_never_used_twice() { // SESSION-53
    var path = CONTEXT + "/artifacts/notes";
    put(path, "{\"text\":\"one\"}");
    var place = testServer.log.head(C).seq();
    put(path, "{\"text\":\"two\",\"expectedVersion\":1}");
    put(CONTEXT + "/artifacts/other", "{\"text\":\"x\"}");

    rewind("{\"toSeq\":" + place + "}");

    assertThat(json(testServer.get(path)).path("version").asInt()).isEqualTo(1);
    assertThat(testServer.get(path + "/content").body()).isEqualTo("one");
    assertThat(json(testServer.get(path + "?version=2")).path("rewound").asBoolean()).isTrue();
    assertThat(testServer.get(path + "/content?version=2").body()).isEqualTo("two");
    assertThat(testServer.get(CONTEXT + "/artifacts/other").statusCode()).isEqualTo(404);
    assertThat(put(path, "{\"text\":\"three\",\"expectedVersion\":2}").statusCode()).isEqualTo(409);
    assertThat(
            json(put(path, "{\"text\":\"three\",\"expectedVersion\":1}")).path("version").asInt())
        .isEqualTo(3);
    assertThat(json(put(CONTEXT + "/artifacts/other", "{\"text\":\"y\"}")).path("version").asInt())
        .isEqualTo(2);
    assertThat(testServer.get(CONTEXT + "/events?kinds=context-rewound").body())
        .contains("\"artifactDelta\":{\"other\":null,\"notes\":1}");
  }

  private HttpResponse<String> put(String path, String body) {
    return testServer.send(
        testServer
            .request(path)
            .header("Content-Type", "application/json")
            .PUT(BodyPublishers.ofString(body)));
  }

  @Test
  void a_fork_shares_the_past_and_goes_its_own_way() { // SESSION-57, CORE-17
    say(CONTEXT, "say A");
    var cut = testServer.log.head(C).seq();
    say(CONTEXT, "say B");

    var made = testServer.post(CONTEXT + "/fork", "{\"atSeq\":" + cut + ",\"contextId\":\"f1\"}");

    assertThat(made.statusCode()).isEqualTo(201);
    assertThat(made.headers().firstValue("Location")).hasValue("/api/contexts/f1");
    assertThat(json(made).path("forkedFrom").toString())
        .isEqualTo("{\"contextId\":\"c1\",\"atSeq\":" + cut + "}");
    assertThat(json(made).path("title").asString()).isEqualTo("Talk");
    assertThat(json(testServer.get("/api/contexts")).path("items").get(0)).isEqualTo(json(made));
    assertThat(messages("/api/contexts/f1")).containsExactly("say A", "A");
    say("/api/contexts/f1", "say C");
    assertThat(messages("/api/contexts/f1")).containsExactly("say A", "A", "say C", "C");
    assertThat(messages(CONTEXT)).containsExactly("say A", "A", "say B", "B");
    var events = testServer.get("/api/contexts/f1/events?limit=1000").body();
    assertThat(events)
        .contains("context-forked")
        .doesNotContain("\"contextId\":\"c1\",\"timestamp");

    testServer.send(testServer.request(CONTEXT).DELETE());

    assertThat(messages("/api/contexts/f1")).containsExactly("say A", "A", "say C", "C");
    assertThat(testServer.get(CONTEXT).statusCode()).isEqualTo(410);
  }

  @Test
  void a_context_at_work_can_be_forked_and_works_on() throws InterruptedException {
    var running =
        json(testServer.post(CONTEXT + "/messages", "{\"content\":\"count slowly to 4000\"}"));
    testServer.log.await(C, Position.of(running.path("seq").asLong() + 4), Duration.ofSeconds(30));

    var made = testServer.post(CONTEXT + "/fork", "{\"title\":\"Another try\"}");

    var fork = "/api/contexts/" + json(made).path("contextId").asString();
    assertThat(json(made).path("title").asString()).isEqualTo("Another try");
    assertThat(json(made).path("openTasks").asInt()).isZero();
    assertThat(json(testServer.get(fork + "/tasks")).path("items").get(0).path("status").asString())
        .isEqualTo(TaskState.CANCELED.wire());
    say(fork, "say hello");
    assertThat(messages(fork)).endsWith("hello");
    assertThat(testServer.log.await(C, testServer.log.head(C), Duration.ofSeconds(30))).isTrue();
    testServer.post(CONTEXT + "/tasks/" + running.path("taskId").asString() + "/cancel", "");
    say(CONTEXT, "say done");
    assertThat(messages(CONTEXT)).endsWith("done");
  }

  @Test
  void a_fork_that_cannot_be_is_refused_and_one_sent_twice_is_one() { // CORE-7
    testServer.post("/api/contexts", "{\"contextId\":\"taken\"}");

    assertThat(code(testServer.post(CONTEXT + "/fork", "{\"contextId\":\"taken\"}")))
        .isEqualTo("context-exists");
    assertThat(code(testServer.post(CONTEXT + "/fork", "{\"atSeq\":99}"))).isEqualTo("invalid-seq");
    assertThat(testServer.post("/api/contexts/unknown/fork", "{}").statusCode()).isEqualTo(404);
    var once = testServer.post(CONTEXT + "/fork", "{}", "Idempotency-Key", "k1");
    say(CONTEXT, "say A");
    var again = testServer.post(CONTEXT + "/fork", "{}", "Idempotency-Key", "k1");
    var other = testServer.post(CONTEXT + "/fork", "{\"atSeq\":2}", "Idempotency-Key", "k1");

    assertThat(again.statusCode()).isEqualTo(201);
    assertThat(again.body()).isEqualTo(once.body());
    assertThat(code(other)).isEqualTo("idempotency-key-reused");
  }
}
