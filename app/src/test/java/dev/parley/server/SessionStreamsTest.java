package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A session while it is worked in: rewind by message, reload, sub-agents, approvals, costs (SESSION-G, SESSION-H).
@Timeout(120)
class SessionStreamsTest {

  private static final ContextId C = new ContextId("c");

  @TempDir Path folder;
  private TestServer testServer;
  private KagentTestClient kagentTestClient;

  @BeforeEach
  void open() {
    start();
    kagentTestClient.post("/api/sessions", Json.object().put("id", "c").put("name", "Talk"));
  }

  private void start() {
    testServer =
        TestServer.durable(folder, TestServer.Wish.USUAL, "approvals: {a2aCallers: [local]}\n");
    kagentTestClient = new KagentTestClient(testServer);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  private static ObjectNode sending(ObjectNode message) {
    return Json.object().set("message", message);
  }

  private static List<String> states(List<JsonNode> frames) {
    return frames.stream()
        .filter(frame -> frame.path("kind").asString().equals("status-update"))
        .map(frame -> frame.path("status").path("state").asString())
        .toList();
  }

  @Test
  void rewind_and_invoke_tells_what_is_left_and_then_the_turn_SESSION_13_SESSION_48() {
    kagentTestClient.say("c", "say A");
    var second = kagentTestClient.say("c", "say B");

    var frames = kagentTestClient.rewind("c", second, "say C", false);

    var first = frames.getFirst();
    assertThat(first.path("kind").asString()).isEqualTo("task");
    assertThat(first.path("id").asString()).isEqualTo("c");
    assertThat(KagentTestClient.words(Json.mapper().createArrayNode().add(first)))
        .containsExactly("say A", "A");
    assertThat(states(frames)).startsWith("submitted").endsWith("completed");
    assertThat(frames.getLast().path("final").asBoolean()).isTrue();
    assertThat(kagentTestClient.conversation("c")).containsExactly("say A", "A", "say C", "C");
    for (var task : kagentTestClient.tasks("c")) {
      for (var message : task.path("history")) {
        assertThat(message.path("metadata").path("kagent_invocation_id").asString())
            .isNotEmpty(); // SESSION-42
      }
    }
  }

  @Test
  void an_unknown_invocation_fails_and_changes_nothing_SESSION_49() {
    kagentTestClient.say("c", "say A");
    var head = testServer.log.head(C);

    var frames = kagentTestClient.rewind("c", "unknown", "say C", true);

    assertThat(states(frames)).containsExactly("failed");
    assertThat(testServer.log.head(C)).isEqualTo(head);
    var body = Json.object().put("rewind_before_invocation_id", "unknown");
    assertThat(KagentTestClient.error(400, kagentTestClient.post("/api/sessions/c/rewind", body)))
        .contains("unknown");
    KagentTestClient.error(400, kagentTestClient.post("/api/sessions/c/rewind", Json.object()));
    KagentTestClient.error(404, kagentTestClient.post("/api/sessions/none/rewind", body));
    assertThat(testServer.log.head(C)).isEqualTo(head);
  }

  private void set(String json) {
    var body = Json.object().set("state", Json.mapper().readTree(json));
    KagentTestClient.data(200, kagentTestClient.send("PATCH", "/api/sessions/c", body));
  }

  @Test
  void state_and_artifacts_go_back_SESSION_51_SESSION_52_SESSION_53() {
    set("{\"born\":1,\"mood\":\"good\",\"app:x\":1}");
    kagentTestClient.say("c", "say A");
    write(1);
    var second = kagentTestClient.say("c", "say B");
    set("{\"mood\":\"bad\",\"late\":true,\"app:x\":2,\"born\":null}");
    write(2);

    var body = Json.object().put("rewind_before_invocation_id", second);
    KagentTestClient.data(200, kagentTestClient.post("/api/sessions/c/rewind", body));

    assertThat(kagentTestClient.session("c").path("state").toString())
        .isEqualTo("{\"app:x\":2,\"born\":1,\"mood\":\"good\"}");
    var artifact = testServer.get("/api/contexts/c/artifacts/a/content").body();
    assertThat(artifact).contains("\"n\":1");
    var events = kagentTestClient.session("c").path("events").get(0).path("data").asString();
    var actions = Json.mapper().readTree(events).path("actions");
    assertThat(actions.path("rewind_before_invocation_id").asString())
        .isEqualTo(second); // SESSION-47
    assertThat(actions.path("state_delta").toString())
        .isEqualTo("{\"late\":null,\"born\":1,\"mood\":\"good\"}");
    assertThat(actions.path("artifact_delta").toString()).isEqualTo("{\"a\":1}");
  }

  /// Somebody writes an artifact through the native API.
  private void write(int n) {
    var version = n == 1 ? "" : ",\"expectedVersion\":" + (n - 1);
    var reply =
        testServer.send(
            testServer
                .request("/api/contexts/c/artifacts/a")
                .header("Content-Type", "application/json")
                .PUT(BodyPublishers.ofString("{\"data\":{\"n\":" + n + "}" + version + "}")));
    assertThat(reply.statusCode()).as(reply.body()).isBetween(200, 201);
  }

  @Test
  void a_stream_that_is_closed_stops_nothing_SESSION_39() throws IOException {
    var params = sending(KagentTestClient.message("c", "m1", "count to 300"));
    var call = Json.object().put("jsonrpc", "2.0").put("id", 1).put("method", "message/stream");
    var body = call.set("params", params).toString();
    String task;
    try (var reader = EventReader.open(testServer, "POST /a2a/agent-code", body)) {
      var frame = reader.next();
      while (frame != null && frame.data() == null) {
        frame = reader.next();
      }
      assertThat(frame).isNotNull();
      task = frame.json().path("result").path("id").asString();
    }

    kagentTestClient.ended("c", task);

    var stored = KagentTestClient.data(200, kagentTestClient.get("/api/tasks/" + task));
    assertThat(stored.path("status").path("state").asString()).isEqualTo("completed");
    assertThat(kagentTestClient.conversation("c")).hasSize(2).last().asString().contains("300");
  }

  @Test
  void a_turn_that_was_killed_has_failed_and_the_session_goes_on_SESSION_40() {
    // What a process leaves that was killed while an agent worked that cannot be taken up again.
    var origin = Origin.root(new TaskId("killed"), new AgentTypeId("agent-code-2"));
    testServer.append(
        C,
        new Message(
            new MessageId("m"), Role.USER, "do it", null, Json.object().put("taskId", "killed")));
    testServer.append(
        C,
        origin,
        new TaskCreated(Initiator.USER, null, new MessageId("m"), "do it", null, null, null, null));
    testServer.append(C, origin, new TaskStatus(TaskState.WORKING, null, null));
    testServer.close();
    start();

    var task = KagentTestClient.data(200, kagentTestClient.get("/api/tasks/killed"));

    assertThat(task.path("status").path("state").asString()).isEqualTo("failed");
    assertThat(kagentTestClient.conversation("c")).hasSize(2).first().isEqualTo("do it");
    var why = task.path("history").valueStream().toList().getLast();
    assertThat(why.path("metadata").path("kagent_error_code").asString()).isEqualTo("interrupted");
    assertThat(kagentTestClient.conversation("c").getLast())
        .contains("stopped before the task was done");
    kagentTestClient.say("c", "say on");
    assertThat(kagentTestClient.conversation("c")).endsWith("say on", "on");
  }

  @Test
  void a_page_that_loads_while_a_task_works_sees_it_and_what_follows_SESSION_62()
      throws IOException {
    var task = kagentTestClient.said("c", "count slowly to 1000");
    var call = Json.object().put("jsonrpc", "2.0").put("id", 7).put("method", "tasks/resubscribe");
    call.putObject("params").put("id", task);

    try (var reader = EventReader.open(testServer, "POST /a2a/agent-code", call.toString())) {
      var first = reader.next();
      while (first != null && first.data() == null) {
        first = reader.next();
      }
      assertThat(first).isNotNull();
      assertThat(first.json().path("id").asInt()).isEqualTo(7);
      assertThat(first.json().path("result").path("kind").asString()).isEqualTo("task");
      kagentTestClient.rpc("tasks/cancel", Json.object().put("id", task));
      var last = first.json();
      for (var frame = reader.next(); frame != null; frame = reader.next()) {
        last = frame.data() == null ? last : frame.json();
      }
      assertThat(last.path("result").path("final").asBoolean()).isTrue();
    }
    var ended = kagentTestClient.frames("tasks/resubscribe", Json.object().put("id", task));
    assertThat(ended).singleElement().matches(f -> f.path("kind").asString().equals("task"));
  }

  @Test
  void the_work_of_a_sub_agent_can_be_opened_SESSION_60_SESSION_63() {
    kagentTestClient.say("c", "delegate count to 3 to agent-data and agent-writer");

    var child =
        kagentTestClient
            .tasks("c")
            .path(0)
            .path("history")
            .valueStream()
            .flatMap(message -> message.path("parts").valueStream())
            .map(part -> part.path("metadata").path("kagent_subagent_session_id").asString(""))
            .filter(id -> !id.isEmpty())
            .findFirst()
            .orElseThrow();

    var session = kagentTestClient.session(child).path("session");
    assertThat(session.path("id").asString()).isEqualTo(child);
    assertThat(session.path("source").asString()).isEqualTo("agent");
    var tasks = kagentTestClient.tasks(child);
    assertThat(tasks).hasSize(1);
    assertThat(tasks.path(0).path("contextId").asString()).isEqualTo(child);
    assertThat(tasks.path(0).path("status").path("state").asString()).isEqualTo("completed");
    assertThat(kagentTestClient.conversation(child)).hasSizeGreaterThanOrEqualTo(2);
    assertThat(KagentTestClient.data(200, kagentTestClient.get("/api/sessions")).toString())
        .doesNotContain(child);
  }

  @Test
  void what_waits_for_a_person_is_there_once_after_a_reload_SESSION_66() {
    var params = sending(KagentTestClient.message("c", "m1", "run echo hi"));
    var asked = kagentTestClient.frames("message/stream", params).getLast();
    assertThat(asked.path("status").path("state").asString()).isEqualTo("input-required");
    var question = asked.path("status").path("message").path("messageId").asString();

    for (var time = 0; time < 2; time++) {
      var task = kagentTestClient.tasks("c").path(0);
      assertThat(task.path("status").path("message").path("messageId").asString())
          .isEqualTo(question);
      assertThat(
              task.path("history")
                  .valueStream()
                  .filter(message -> message.path("messageId").asString().equals(question)))
          .hasSize(1);
      assertThat(kagentTestClient.tasks("c")).hasSize(1);
      testServer.close();
      start();
    }
    var id = kagentTestClient.tasks("c").path(0).path("id").asString();
    var no = KagentTestClient.message("c", "m2", "deny").put("taskId", id);
    kagentTestClient.frames("message/stream", sending(no));
    kagentTestClient.ended("c", id);
    assertThat(kagentTestClient.tasks("c").path(0).path("status").path("state").asString())
        .isEqualTo("completed");
  }

  @Test
  void costs_are_sums_over_calls_SESSION_67() throws IOException {
    Files.writeString(folder.resolve("notes.txt"), "some notes\n");
    kagentTestClient.say("c", "read notes.txt");

    var usage =
        Json.mapper().readTree(testServer.get("/api/contexts/c/usage").body()).path("items");
    var calls = usage.path(0).path("calls").asLong();
    var input = usage.path(0).path("inputTokens").asLong();
    var told = kagentTestClient.tasks("c").path(0).path("metadata").path("kagent_usage_metadata");

    assertThat(calls).isGreaterThan(1);
    assertThat(told.path("promptTokenCount").asLong()).isEqualTo(input);
    assertThat(told.path("totalTokenCount").asLong())
        .isEqualTo(input + usage.path(0).path("outputTokens").asLong());
  }
}
