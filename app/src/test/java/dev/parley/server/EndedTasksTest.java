package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.ReadCountingLog;
import dev.parley.protocol.Json;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// A2A tasks that have ended are folded once, and no longer shown than they are there.
class EndedTasksTest {

  private static final int NOT_FOUND = -32001;

  private final AtomicInteger reads = new AtomicInteger();
  private TestServer testServer;
  private A2aTestClient peer;

  @BeforeEach
  void open(@TempDir Path folder) {
    testServer = TestServer.open(folder, log -> ReadCountingLog.of(log, reads));
    peer = new A2aTestClient(testServer, "agent-code", "1.0");
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  private String say(String text) {
    var params = A2aTestClient.in(peer.say("m-" + text.hashCode(), text), "contextId", "c");
    return peer.send(params).path("id").asString();
  }

  private JsonNode get(String task) {
    return peer.result("GetTask", A2aTestClient.id(task));
  }

  private JsonNode list() {
    return peer.result("ListTasks", Json.object().put("includeArtifacts", true)).path("tasks");
  }

  @Test
  void a_task_that_has_ended_is_read_once() {
    var task = say("say hello");
    var first = get(task);
    var before = reads.get();

    assertThat(get(task)).isEqualTo(first);
    assertThat(list().get(0)).isEqualTo(first);
    assertThat(
            peer.result("GetTask", A2aTestClient.id(task).put("historyLength", 1)).path("history"))
        .hasSize(1);

    assertThat(reads).hasValue(before);
  }

  @Test
  void sessions_read_it_once_too() {
    say("say hello");
    var first = testServer.get("/api/sessions/c/tasks").body();
    var before = reads.get();

    assertThat(testServer.get("/api/sessions/c/tasks").body()).isEqualTo(first).contains("hello");

    assertThat(reads).hasValue(before);
  }

  @Test
  void a_task_that_goes_on_is_read_again() {
    var task = say("ask me which colour");
    assertThat(get(task).path("status").path("state").asString())
        .isEqualTo("TASK_STATE_INPUT_REQUIRED");

    peer.send(A2aTestClient.in(peer.say("yes", "blue"), "taskId", task));

    assertThat(get(task).path("status").path("state").asString()).isEqualTo("TASK_STATE_COMPLETED");
  }

  @Test
  void what_was_edited_since_is_shown() {
    var task = say("say hello");
    var id = get(task).path("history").get(0).path("messageId").asString();

    testServer.send(
        testServer
            .request("/api/contexts/c/messages/" + id, "Content-Type", "application/json")
            .method("PATCH", BodyPublishers.ofString("{\"content\":\"say bye\"}")));

    assertThat(get(task).path("history").get(0).toString()).contains("say bye");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rewound", "deleted"})
  void a_task_that_was_kept_is_not_shown_when_it_no_longer_counts(String how) {
    var task = say("say hello");
    assertThat(get(task).path("id").asString()).isEqualTo(task);
    assertThat(list()).hasSize(1);

    if (how.equals("rewound")) {
      var turn = Json.object().put("rewind_before_invocation_id", task);
      testServer.post("/api/sessions/c/rewind", turn.toString());
    } else {
      testServer.send(testServer.request("/api/contexts/c").DELETE());
    }

    assertThat(peer.error("GetTask", A2aTestClient.id(task))).isEqualTo(NOT_FOUND);
    assertThat(list()).isEmpty();
  }
}
