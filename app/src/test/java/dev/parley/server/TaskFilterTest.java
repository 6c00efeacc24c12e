package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.ParleyClient;
import dev.parley.client.StreamFilter;
import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.http.WebSocketTestClient;
import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Readers that want the events of some tasks only.
class TaskFilterTest {

  private static final Origin ROOT = Origin.root(new TaskId("root"), new AgentTypeId("boss"));
  private static final Origin MIDDLE = below(ROOT, "middle", "clerk", "i1");
  private static final Origin LEAF = below(MIDDLE, "leaf", "reader", "i2");
  private static final Origin DEEPEST = below(LEAF, "deepest", "reader", "i3");
  private static final Origin OTHER = below(ROOT, "other", "reader", "i1");

  @TempDir Path folder;
  private TestServer testServer;
  private ContextId context;

  @BeforeEach
  void open() {
    testServer = TestServer.open(folder);
    context = testServer.context("c");
    for (var origin : List.of(ROOT, MIDDLE, LEAF, DEEPEST, OTHER)) {
      testServer.append(context, origin, created());
    }
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void a_task_in_the_middle_is_read_with_everything_below_it() {
    assertThat(listed("rootTaskId=middle")).containsExactly("middle", "leaf", "deepest");
    assertThat(listed("rootTaskId=leaf")).containsExactly("leaf", "deepest");
    assertThat(listed("rootTaskId=deepest")).containsExactly("deepest");
    assertThat(listed("rootTaskId=root"))
        .containsExactly("root", "middle", "leaf", "deepest", "other");
    assertThat(listed("rootTaskId=nobody")).isEmpty();
  }

  @Test
  void a_reader_chooses_by_parent_agent_and_invocation() {
    assertThat(listed("parentTaskId=root")).containsExactly("middle", "other");
    assertThat(listed("agentId=reader")).containsExactly("leaf", "deepest", "other");
    assertThat(listed("invocationId=i1")).containsExactly("middle", "other");
    assertThat(listed("agentId=reader&rootTaskId=middle")).containsExactly("leaf", "deepest");
  }

  @Test
  void tasks_that_no_longer_count_keep_their_place_in_the_tree() {
    for (var origin : List.of(DEEPEST, LEAF, MIDDLE, OTHER, ROOT)) {
      testServer.append(context, origin, new TaskStatus(TaskState.CANCELED, null, null));
    }
    testServer.append(context, new ContextRewound(1, null, null, null, null));
    assertThat(listed("rootTaskId=middle&kinds=task-created"))
        .containsExactly("middle", "leaf", "deepest");
  }

  @Test
  void a_stream_follows_tasks_that_come_later() throws Exception {
    try (var stream =
        EventReader.open(testServer, "GET /api/contexts/c/stream?rootTaskId=middle&after=6", "")) {
      assertThat(stream.next().event()).isEqualTo("stream-open");
      later();
      assertThat(stream.next().json().path("taskId").asString()).isEqualTo("late");
    }
  }

  @Test
  void a_web_socket_takes_the_same_filters() throws Exception {
    try (var socket =
        new WebSocketTestClient(testServer.url.getPort(), "/api/ws", Map.of(), true)) {
      socket.send(
          "{\"type\":\"subscribe\",\"contextId\":\"c\",\"rootTaskId\":\"middle\",\"agentId\":\"reader\"}");
      assertThat(socket.json().path("type").asString()).isEqualTo("subscribed");
      assertThat(socket.json().at("/event/taskId").asString()).isEqualTo("leaf");
      assertThat(socket.json().at("/event/taskId").asString()).isEqualTo("deepest");
      later();
      assertThat(socket.json().at("/event/taskId").asString()).isEqualTo("late");
    }
  }

  @Test
  void the_java_client_has_these_filters() {
    try (var client = new ParleyClient(testServer.url)) {
      assertThat(tasks(client, StreamFilter.ALL.onlyTree(MIDDLE.taskId())))
          .containsExactly("middle", "leaf", "deepest");
      assertThat(tasks(client, StreamFilter.ALL.onlyChildrenOf(ROOT.taskId())))
          .containsExactly("middle", "other");
      assertThat(tasks(client, StreamFilter.ALL.onlyAgent(LEAF.agentId())))
          .containsExactly("leaf", "deepest", "other");
      assertThat(tasks(client, StreamFilter.ALL.onlyInvocation(new InvocationId("i3"))))
          .containsExactly("deepest");
    }
  }

  @Test
  void internal_events_need_a_token_that_may_read_them() throws Exception {
    var quiet = new ApiToken("quiet", sha256("q"), false);
    var curious = new ApiToken("curious", sha256("c"));
    try (var guarded = TestServer.open(folder, TestServer.Wish.USUAL.tokens(quiet, curious))) {
      guarded.context("c");
      for (var path :
          List.of(
              "/events?internal=true",
              "/events?format=workflow&debug=1",
              "/stream?internal=true",
              "/stream?format=workflow&debug=1")) {
        var refused = guarded.get("/api/contexts/c" + path, "Authorization", "Bearer q");
        assertThat(refused.statusCode()).as(path).isEqualTo(403);
        assertThat(refused.body()).contains("internal-forbidden");
      }
      assertThat(guarded.get("/api/contexts/c/events", "Authorization", "Bearer q").statusCode())
          .isEqualTo(200);
      assertThat(
              guarded
                  .get("/api/contexts/c/events?internal=true", "Authorization", "Bearer c")
                  .statusCode())
          .isEqualTo(200);
      try (var socket =
          new WebSocketTestClient(
              guarded.url.getPort(), "/api/ws", Map.of("Authorization", "Bearer q"), true)) {
        socket.send("{\"type\":\"subscribe\",\"contextId\":\"c\",\"internal\":true}");
        assertThat(socket.json().path("code").asString()).isEqualTo("internal-forbidden");
      }
    }
  }

  @Test
  void an_internal_kind_without_internal_events_is_refused_with_a_hint() throws Exception {
    testServer.context("k");
    for (var path :
        List.of("events?kinds=internal:raw", "stream?kinds=message,internal:llm-call")) {
      var refused = testServer.get("/api/contexts/k/" + path);
      assertThat(refused.statusCode()).as(path).isEqualTo(400);
      assertThat(refused.body()).contains("internal:", "add internal=true");
    }
    for (var query :
        List.of(
            "kinds=internal:raw&internal=true",
            "exclude=internal:raw",
            "kinds=internal:raw&format=workflow&debug=1")) {
      assertThat(testServer.get("/api/contexts/k/events?" + query).statusCode())
          .as(query)
          .isEqualTo(200);
    }
    try (var socket =
        new WebSocketTestClient(testServer.url.getPort(), "/api/ws", Map.of(), true)) {
      socket.send("{\"type\":\"subscribe\",\"contextId\":\"k\",\"kinds\":[\"internal:raw\"]}");
      assertThat(socket.json().toString()).contains("add internal=true");
    }
  }

  private void later() {
    testServer.append(context, below(DEEPEST, "late", "reader", "i4"), created());
    testServer.append(context, below(OTHER, "elsewhere", "reader", "i5"), created());
  }

  private List<String> listed(String query) {
    var page = Json.mapper().readTree(testServer.get("/api/contexts/c/events?" + query).body());
    return page.path("events").valueStream().map(TaskFilterTest::task).toList();
  }

  private static String task(JsonNode event) {
    return event.path("taskId").asString();
  }

  private List<String> tasks(ParleyClient client, StreamFilter filter) {
    return client.events(context, Position.START, 100, filter).events().stream()
        .map(TaskFilterTest::task)
        .toList();
  }

  private static TaskCreated created() {
    return new TaskCreated(Initiator.AGENT, null, null, "go", null, null, null, null);
  }

  private static Origin below(Origin parent, String task, String agent, String invocation) {
    return new Origin(
        new TaskId(task),
        parent.taskId(),
        parent.rootTaskId(),
        new AgentTypeId(agent),
        AgentLevel.SUBAGENT,
        new InvocationId(invocation),
        null,
        null);
  }

  private static String sha256(String text) throws Exception {
    var digest = MessageDigest.getInstance("SHA-256");
    return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
  }
}
