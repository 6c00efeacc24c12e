package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Lists of tasks.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class A2aListTest {

  private TestServer testServer;
  private A2aTestClient peer;

  @BeforeAll
  void open(@TempDir Path folder) {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL, A2aJsonRpcTest.YAML);
    peer = new A2aTestClient(testServer, "helper", "1.0");
    for (var i = 0; i < 7; i++) {
      var say = peer.say("m" + i, i == 6 ? "ask me which one" : "say number " + i);
      peer.send(A2aTestClient.in(say, "contextId", i < 5 ? "first" : "second"));
    }
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private JsonNode list(String params) {
    return peer.result("ListTasks", Json.mapper().readTree(params));
  }

  @Test
  void pages_lead_to_every_task_once_the_latest_first() {
    var seen = new ArrayList<String>();
    var times = new ArrayList<String>();
    var token = "";
    do {
      var page = list("{\"pageSize\":2,\"pageToken\":\"" + token + "\"}");
      assertThat(page.path("totalSize").asInt()).isEqualTo(7);
      assertThat(page.path("pageSize").asInt()).isEqualTo(2);
      for (var task : page.path("tasks")) {
        seen.add(task.path("id").asString());
        times.add(task.path("status").path("timestamp").asString());
      }
      token = page.path("nextPageToken").asString();
    } while (!token.isEmpty());

    assertThat(seen).hasSize(7).doesNotHaveDuplicates();
    assertThat(times).isSortedAccordingTo(Comparator.reverseOrder());
  }

  @Test
  void a_list_can_be_narrowed() {
    assertThat(list("{\"contextId\":\"first\"}").path("totalSize").asInt()).isEqualTo(5);
    assertThat(list("{\"context_id\":\"second\"}").path("totalSize").asInt()).isEqualTo(2);
    assertThat(list("{\"contextId\":\"none\"}").path("tasks").isEmpty()).isTrue();
    assertThat(list("{\"status\":\"TASK_STATE_INPUT_REQUIRED\"}").path("tasks").size())
        .isEqualTo(1);
    assertThat(list("{\"status\":\"TASK_STATE_COMPLETED\"}").path("totalSize").asInt())
        .isEqualTo(6);
    assertThat(list("{\"status\":\"TASK_STATE_FAILED\"}").path("totalSize").asInt()).isZero();
    var all = list("{}").path("tasks");
    var third = all.get(2).path("status").path("timestamp").asString();
    var since = list("{\"statusTimestampAfter\":\"" + third + "\"}");
    assertThat(since.path("totalSize").asInt()).isBetween(3, 7);
    assertThat(since.path("tasks").findValuesAsString("timestamp"))
        .allSatisfy(time -> assertThat(time).isGreaterThanOrEqualTo(third));
  }

  private static List<String> ids(JsonNode page) {
    return page.path("tasks").valueStream().map(task -> task.path("id").asString()).toList();
  }

  @Test
  void failed_and_rejected_tasks_are_not_taken_for_each_other(@TempDir Path folder) {
    try (var other = TestServer.durable(folder, TestServer.Wish.USUAL, A2aJsonRpcTest.YAML)) {
      var asking = new A2aTestClient(other, "helper", "1.0");
      var failed = asking.send(asking.say("fails", "fail")).path("id").asString();
      for (var i = 0; i < 3; i++) {
        var task = Json.object().put("kind", "task").put("id", "no" + i).put("contextId", "s");
        task.putObject("status").put("state", "rejected");
        task.putObject("metadata").put("kagent_app_name", "helper");
        KagentTestClient.data(201, new KagentTestClient(other).post("/api/tasks", task));
      }

      var failures = asking.result("ListTasks", Json.object().put("status", "TASK_STATE_FAILED"));
      var wanted = Json.object().put("status", "TASK_STATE_REJECTED").put("pageSize", 2);
      var refusals = asking.result("ListTasks", wanted);
      wanted.put("pageToken", refusals.path("nextPageToken").asString());
      var more = asking.result("ListTasks", wanted);

      assertThat(ids(failures)).containsExactly(failed);
      assertThat(failures.path("totalSize").asInt()).isEqualTo(1);
      assertThat(ids(refusals)).containsExactly("no2", "no1");
      assertThat(refusals.path("totalSize").asInt()).isEqualTo(3);
      assertThat(ids(more)).containsExactly("no0");
      assertThat(more.path("nextPageToken").asString("-")).isEmpty();
    }
  }

  @Test
  void a_page_of_open_tasks_goes_on_where_one_has_ended_meanwhile(@TempDir Path folder) {
    try (var other = TestServer.durable(folder, TestServer.Wish.USUAL, A2aJsonRpcTest.YAML)) {
      var asking = new A2aTestClient(other, "helper", "1.0");
      var asked = new ArrayList<String>();
      for (var i = 0; i < 3; i++) {
        asked.add(asking.send(asking.say("asks" + i, "ask me which one")).path("id").asString());
      }
      var wanted = Json.object().put("status", "TASK_STATE_INPUT_REQUIRED").put("pageSize", 1);
      var first = asking.result("ListTasks", wanted);

      asking.result("CancelTask", A2aTestClient.id(asked.getLast()));
      wanted.put("pageToken", first.path("nextPageToken").asString());

      assertThat(ids(first)).containsExactly(asked.getLast());
      assertThat(ids(asking.result("ListTasks", wanted))).containsExactly(asked.get(1));
    }
  }

  @Test
  void artifacts_and_history_come_if_asked_for() {
    var bare = list("{\"contextId\":\"first\",\"historyLength\":0}").path("tasks").get(0);
    assertThat(List.copyOf(bare.propertyNames())).doesNotContain("artifacts", "history");
    var whole = list("{\"contextId\":\"first\",\"includeArtifacts\":true}").path("tasks").get(0);
    assertThat(whole.path("artifacts").isEmpty()).isFalse();
    assertThat(((ObjectNode) whole).has("history")).isTrue();
  }

  @Test
  void what_makes_no_sense_is_refused() {
    for (var params :
        List.of(
            "{\"pageSize\":0}",
            "{\"pageSize\":101}",
            "{\"pageSize\":-1}",
            "{\"pageToken\":\"nonsense\"}",
            "{\"status\":\"SLEEPING\"}",
            "{\"historyLength\":-1}",
            "{\"statusTimestampAfter\":\"yesterday\"}")) {
      assertThat(peer.error("ListTasks", Json.mapper().readTree(params)))
          .as(params)
          .isEqualTo(-32602);
    }
  }
}
