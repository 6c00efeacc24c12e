package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The native API on the real store, with the offline model answering.
class ContextsTest {

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL.heartbeat(Duration.ofSeconds(1)));
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void the_same_key_without_a_context_says_it_once_in_one_new_context() {
    var body = "{\"message\":{\"role\":\"user\",\"content\":\"say hi\"}}";
    var first = testServer.post("/api/messages", body, "Idempotency-Key", "k1");
    var again = testServer.post("/api/messages", body, "Idempotency-Key", "k1");
    // The log has grown between the two.
    assertThat(opening(again).without("head")).isEqualTo(opening(first).without("head"));
    assertThat(json(testServer.get("/api/contexts")).path("items")).hasSize(1);
  }

  /// The data of the first frame of a stream.
  private static ObjectNode opening(HttpResponse<String> stream) {
    var data = stream.body().lines().filter(line -> line.startsWith("data: ")).findFirst();
    return (ObjectNode) Json.mapper().readTree(data.orElseThrow().substring("data: ".length()));
  }

  @Test
  void a_message_in_a_new_context_is_one_request_with_all_its_options() {
    var body =
        "{\"message\":{\"role\":\"user\",\"content\":\"say hi\",\"agentId\":\"agent-code\"}}";
    var reply = testServer.post("/api/messages", body, "Accept", "application/json; charset=utf-8");
    assertThat(reply.statusCode()).isEqualTo(202);
    var task = json(reply).path("taskId").asString();
    var context = json(reply).path("contextId").asString();
    var begun = json(testServer.get("/api/contexts/" + context + "/tasks/" + task));
    assertThat(begun.path("agentId").asString()).isEqualTo("agent-code");
  }

  @Test
  void what_is_refused_leaves_no_empty_context_behind() {
    for (var refused :
        Set.of(
            "{\"message\":{\"role\":\"user\",\"content\":\"hi\",\"agentId\":\"nobody\"}}",
            "{\"message\":{\"role\":\"user\",\"content\":\" \"}}",
            "{\"message\":{\"role\":\"assistant\",\"content\":\"hi\"}}")) {
      var reply = testServer.post("/api/messages", refused, "Accept", "application/json");
      assertThat(reply.statusCode()).as(refused).isBetween(400, 499);
    }
    assertThat(json(testServer.get("/api/contexts")).path("items")).isEmpty();
  }

  @Test
  void a_context_can_be_made_without_a_body() {
    var made = testServer.send(testServer.request("/api/contexts").POST(BodyPublishers.noBody()));
    assertThat(made.statusCode()).isEqualTo(201);
    var empty = testServer.send(testServer.request("/api/messages").POST(BodyPublishers.noBody()));
    assertThat(empty.statusCode()).isEqualTo(400);
  }

  @Test
  void a_context_is_made_shown_listed_renamed_and_deleted_for_ever() {
    var made = testServer.post("/api/contexts", "{\"contextId\":\"c1\",\"title\":\"One\"}");
    assertThat(made.statusCode()).isEqualTo(201);
    assertThat(made.headers().firstValue("Location")).hasValue("/api/contexts/c1");
    assertThat(json(made).path("title").asString()).isEqualTo("One");
    assertThat(json(made).path("owner").asString()).isEqualTo("local");

    assertThat(json(testServer.get("/api/contexts/c1"))).isEqualTo(json(made));
    assertThat(json(testServer.get("/api/contexts")).path("items")).hasSize(1);

    var renamed = patch("/api/contexts/c1", "{\"title\":\"Two\",\"metadata\":{\"a\":[1]}}");
    assertThat(json(renamed).path("title").asString()).isEqualTo("Two");
    assertThat(json(renamed).path("metadata")).isEqualTo(tree("{\"a\":[1]}"));
    assertThat(patch("/api/contexts/c1", "{}").statusCode()).isEqualTo(400);

    assertThat(delete("/api/contexts/c1").statusCode()).isEqualTo(204);
    for (var path : Set.of("", "/events", "/stream", "/snapshot", "/messages", "/tasks")) {
      assertThat(testServer.get("/api/contexts/c1" + path).statusCode()).as(path).isEqualTo(410);
    }
    assertThat(delete("/api/contexts/c1").statusCode()).isEqualTo(410);
    assertThat(testServer.post("/api/contexts", "{\"contextId\":\"c1\"}").statusCode())
        .isEqualTo(410);
    assertThat(json(testServer.get("/api/contexts")).path("items")).isEmpty();
  }

  @Test
  void a_taken_id_is_a_conflict() {
    testServer.post("/api/contexts", "{\"contextId\":\"c1\"}");

    var again = testServer.post("/api/contexts", "{\"contextId\":\"c1\"}");

    assertThat(again.statusCode()).isEqualTo(409);
    assertThat(code(again)).isEqualTo("context-exists");
  }

  @Test
  void making_a_context_twice_with_one_key_makes_one() {
    var first = testServer.post("/api/contexts", "{\"title\":\"x\"}", "Idempotency-Key", "k1");
    var second = testServer.post("/api/contexts", "{\"title\":\"x\"}", "Idempotency-Key", "k1");
    var other = testServer.post("/api/contexts", "{\"title\":\"y\"}", "Idempotency-Key", "k1");

    assertThat(second.statusCode()).isEqualTo(201);
    assertThat(second.body()).isEqualTo(first.body());
    assertThat(other.statusCode()).isEqualTo(409);
    assertThat(code(other)).isEqualTo("idempotency-key-reused");
    assertThat(json(testServer.get("/api/contexts")).path("items")).hasSize(1);
  }

  @Test
  void contexts_are_listed_in_pages_without_holes_or_doubles() {
    for (var i = 0; i < 25; i++) {
      testServer.post("/api/contexts", "{\"contextId\":\"c" + i + "\"}");
    }
    var seen = new ArrayList<String>();
    var cursor = "";
    do {
      var page = json(testServer.get("/api/contexts?limit=10" + cursor));
      page.path("items").forEach(item -> seen.add(item.path("contextId").asString()));
      cursor = page.has("nextCursor") ? "&cursor=" + page.path("nextCursor").asString() : "";
    } while (!cursor.isEmpty());

    assertThat(seen).hasSize(25);
    assertThat(new HashSet<>(seen)).hasSize(25);
    assertThat(testServer.get("/api/contexts?cursor=!!").statusCode()).isEqualTo(400);
  }

  @Test
  void a_message_is_accepted_answered_and_found_in_every_view() throws IOException {
    testServer.post("/api/contexts", "{\"contextId\":\"c\"}");

    var reply = testServer.post("/api/contexts/c/messages", "{\"content\":\"say hello\"}");

    assertThat(reply.statusCode()).isEqualTo(202);
    var accepted = json(reply);
    assertThat(accepted.propertyNames())
        .containsExactlyInAnyOrder("contextId", "messageId", "taskId", "seq");
    awaitEnd("c");
    var task = accepted.path("taskId").asString();
    var shown = json(testServer.get("/api/contexts/c/tasks/" + task));
    assertThat(shown.path("status").asString()).isEqualTo("completed");
    var messages = json(testServer.get("/api/contexts/c/messages")).path("items");
    assertThat(messages).hasSize(2);
    assertThat(messages.get(0).path("messageId")).isEqualTo(accepted.path("messageId"));
    // The supervisor's task, and that of the agent it chose.
    assertThat(json(testServer.get("/api/contexts/c/tasks")).path("items")).hasSize(2);
    assertThat(json(testServer.get("/api/contexts/c/snapshot")).path("messages")).hasSize(2);
    assertThat(json(testServer.get("/api/task-lookup/" + task)).path("contextId").asString())
        .isEqualTo("c");
    assertThat(testServer.get("/api/contexts/c/usage").statusCode()).isEqualTo(200);
  }

  @Test
  void a_message_sent_twice_with_one_key_is_said_once() {
    testServer.post("/api/contexts", "{\"contextId\":\"c\"}");
    var body = "{\"content\":\"say hello\"}";

    var first = testServer.post("/api/contexts/c/messages", body, "Idempotency-Key", "k");
    var second = testServer.post("/api/contexts/c/messages", body, "Idempotency-Key", "k");
    var other =
        testServer.post("/api/contexts/c/messages", "{\"content\":\"x\"}", "Idempotency-Key", "k");

    assertThat(second.body()).isEqualTo(first.body());
    assertThat(other.statusCode()).isEqualTo(409);
  }

  @Test
  void a_message_may_be_answered_by_the_stream_of_its_task() throws IOException {
    testServer.post("/api/contexts", "{\"contextId\":\"c\"}");
    try (var reader =
        EventReader.open(
            testServer,
            "POST /api/contexts/c/messages",
            "{\"content\":\"count to 3\"}",
            "Accept",
            "text/event-stream")) {
      assertTaskStream(reader);
    }
  }

  @Test
  void the_form_that_names_its_context_makes_it_and_streams() throws IOException {
    for (var i = 0; i < 2; i++) {
      try (var reader =
          EventReader.open(
              testServer,
              "POST /api/messages",
              "{\"contextId\":\"new\",\"message\":{\"role\":\"user\",\"content\":\"say a\"}}")) {
        assertTaskStream(reader);
      }
    }
    assertThat(json(testServer.get("/api/contexts/new/messages")).path("items")).hasSize(4);
    var wrong = "{\"message\":{\"role\":\"system\",\"content\":\"x\"}}";
    assertThat(testServer.post("/api/messages", wrong).statusCode()).isEqualTo(400);
    for (var body :
        Set.of("{}", "{\"message\":null}", "{\"message\":{\"role\":null,\"content\":\"x\"}}")) {
      assertThat(testServer.post("/api/messages", body).statusCode()).as(body).isEqualTo(400);
    }
  }

  private static void assertTaskStream(EventReader reader) throws IOException {
    var open = reader.next();
    assertThat(open.event()).isEqualTo("stream-open");
    var task = open.json().path("taskId").asString();
    assertThat(open.json().path("seq").asString()).isEqualTo(open.id());
    var kinds = new ArrayList<String>();
    for (var frame = reader.nextEvent(); frame != null; frame = reader.nextEvent()) {
      assertThat(frame.json().path("rootTaskId").asString()).isEqualTo(task);
      kinds.add(frame.event());
    }
    assertThat(kinds.getFirst()).isEqualTo("task-created");
    assertThat(kinds.getLast()).isEqualTo("task-complete");
  }

  @Test
  void a_message_is_edited_and_hidden_once() throws IOException {
    testServer.post("/api/contexts", "{\"contextId\":\"c\"}");
    var accepted = json(testServer.post("/api/contexts/c/messages", "{\"content\":\"say hello\"}"));
    var path = "/api/contexts/c/messages/" + accepted.path("messageId").asString();
    awaitEnd("c");

    var edited = patch(path, "{\"content\":\"say bye\"}");
    assertThat(json(edited).path("content").asString()).isEqualTo("say bye");
    assertThat(json(edited).has("editedAt")).isTrue();
    assertThat(patch(path, "{\"content\":\" \"}").statusCode()).isEqualTo(400);
    assertThat(delete(path).statusCode()).isEqualTo(204);
    assertThat(delete(path).statusCode()).isEqualTo(404);
    assertThat(patch(path, "{\"content\":\"x\"}").statusCode()).isEqualTo(404);
    assertThat(testServer.get(path).statusCode()).isEqualTo(404);
  }

  @Test
  void parts_may_carry_the_text() {
    testServer.post("/api/contexts", "{\"contextId\":\"c\"}");
    var parts = "{\"parts\":[{\"kind\":\"text\",\"text\":\"say a\"},{\"text\":\"b\"},{\"x\":1}]}";
    assertThat(testServer.post("/api/contexts/c/messages", parts).statusCode()).isEqualTo(202);
    var messages = json(testServer.get("/api/contexts/c/messages?limit=1")).path("items");
    assertThat(messages.get(0).path("content").asString()).isEqualTo("say a\nb");
    assertThat(testServer.post("/api/contexts/c/messages", "{\"parts\":[]}").statusCode())
        .isEqualTo(400);
  }

  @Test
  void a_running_task_is_canceled() throws IOException {
    testServer.post("/api/contexts", "{\"contextId\":\"c\"}");
    var accepted =
        json(testServer.post("/api/contexts/c/messages", "{\"content\":\"count slowly to 500\"}"));
    var path = "/api/contexts/c/tasks/" + accepted.path("taskId").asString();

    assertThat(post(path + "/cancel").statusCode()).isEqualTo(202);

    awaitEnd("c");
    assertThat(json(testServer.get(path)).path("status").asString()).isEqualTo("canceled");
    assertThat(post(path + "/cancel").statusCode()).isEqualTo(202);
    assertThat(post("/api/contexts/c/tasks/none/cancel").statusCode()).isEqualTo(404);
    assertThat(post(path + "/tools/none/cancel").statusCode()).isGreaterThanOrEqualTo(400);
  }

  @Test
  void artifacts_are_written_by_version_and_saved_safely() {
    testServer.post("/api/contexts", "{\"contextId\":\"c\"}");
    var path = "/api/contexts/c/artifacts/a1";

    var first =
        put(
            path,
            "{\"text\":\"<script>\",\"name\":\"../é \\\"x.html\",\"mimeType\":\"text/html\"}");
    assertThat(first.statusCode()).isEqualTo(200);
    assertThat(json(first).path("version").asInt()).isEqualTo(1);
    var stale = put(path, "{\"text\":\"b\",\"expectedVersion\":7}");
    assertThat(stale.statusCode()).isEqualTo(409);
    assertThat(json(stale).path("currentVersion").asInt()).isEqualTo(1);
    assertThat(json(put(path, "{\"data\":\"AAEC\",\"expectedVersion\":1}")).path("version").asInt())
        .isEqualTo(2);
    assertThat(put(path, "{\"data\":{\"x\":1},\"expectedVersion\":2}").statusCode()).isEqualTo(409);
    assertThat(put(path, "{\"data\":5,\"expectedVersion\":2}").statusCode()).isEqualTo(400);
    assertThat(put(path, "{\"expectedVersion\":2}").statusCode()).isEqualTo(400);

    var content = testServer.get(path + "/content?version=1");
    assertThat(content.body()).isEqualTo("<script>");
    assertThat(content.headers().firstValue("Content-Type")).hasValue("text/html; charset=utf-8");
    assertThat(content.headers().firstValue("Content-Disposition"))
        .hasValue("attachment; filename=\"___x.html\"; filename*=UTF-8''%C3%A9%20%22x.html");
    assertThat(content.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
    assertThat(content.headers().firstValue("Content-Security-Policy").orElse(""))
        .contains("sandbox");
    assertThat(json(testServer.get(path)).path("latestVersion").asInt()).isEqualTo(2);
    assertThat(testServer.get(path + "?version=99").statusCode()).isEqualTo(404);
    assertThat(json(testServer.get("/api/contexts/c/artifacts")).path("items")).hasSize(1);
    assertThat(testServer.get("/api/contexts/c/artifacts/none").statusCode()).isEqualTo(404);
  }

  @Test
  void an_artifact_that_is_still_being_written_is_left_alone() {
    testServer.post("/api/contexts", "{\"contextId\":\"c\"}");
    testServer.append(
        new ContextId("c"),
        new FileWrite(
            new ArtifactId("a"), "x", 0, false, null, null, null, Encoding.UTF_8, null, 1));

    var refused = put("/api/contexts/c/artifacts/a", "{\"text\":\"y\",\"expectedVersion\":1}");

    assertThat(refused.statusCode()).isEqualTo(409);
    assertThat(code(refused)).isEqualTo("artifact-building");
  }

  @Test
  void what_was_said_is_there_after_a_restart() throws IOException {
    testServer.post("/api/contexts", "{\"contextId\":\"c\"}");
    testServer.post("/api/contexts/c/messages", "{\"content\":\"say hello\"}");
    awaitEnd("c");
    var before = testServer.get("/api/contexts/c/events").body();
    var snapshot = testServer.get("/api/contexts/c/snapshot").body();
    testServer.close();

    open();

    assertThat(testServer.get("/api/contexts/c/events").body()).isEqualTo(before);
    assertThat(testServer.get("/api/contexts/c/snapshot").body()).isEqualTo(snapshot);
  }

  @Test
  void unknown_contexts_are_unknown_everywhere() {
    for (var path :
        Set.of("", "/events", "/stream", "/snapshot", "/messages", "/tasks", "/usage")) {
      assertThat(testServer.get("/api/contexts/none" + path).statusCode()).as(path).isEqualTo(404);
    }
    assertThat(testServer.post("/api/contexts/none/messages", "{\"content\":\"x\"}").statusCode())
        .isEqualTo(404);
    assertThat(testServer.get("/api/task-lookup/none").statusCode()).isEqualTo(404);
    assertThat(testServer.get("/api/contexts/none/snapshot?at=x").statusCode()).isEqualTo(404);
  }

  /// Reads until no task of the context is open.
  private void awaitEnd(String context) throws IOException {
    try (var reader = testServer.stream("/api/contexts/" + context + "/stream")) {
      for (var frame = reader.nextEvent(); frame != null; frame = reader.nextEvent()) {
        var open =
            testServer.log.inspect(new ContextId(context), state -> state.openTasks().size());
        if (open == 0 && frame.event().startsWith("task-")) {
          return;
        }
      }
    }
  }

  private HttpResponse<String> patch(String path, String body) {
    return with("PATCH", path, body);
  }

  private HttpResponse<String> put(String path, String body) {
    return with("PUT", path, body);
  }

  private HttpResponse<String> with(String method, String path, String body) {
    return testServer.send(
        testServer
            .request(path, "Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(body)));
  }

  private HttpResponse<String> post(String path) {
    return testServer.send(testServer.request(path).POST(BodyPublishers.noBody()));
  }

  private HttpResponse<String> delete(String path) {
    return testServer.send(testServer.request(path).DELETE());
  }

  private static JsonNode json(HttpResponse<String> reply) {
    return tree(reply.body());
  }

  private static JsonNode tree(String text) {
    return Json.mapper().readTree(text);
  }

  private static String code(HttpResponse<String> reply) {
    return json(reply).path("code").asString();
  }
}
