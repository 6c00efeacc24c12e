package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.projection.TaskTree;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// What different APIs say of the same context: whether it waits for a person, and how many tokens were used.
@Timeout(60)
class ApisAgreeTest {

  private static final AgentTypeId AGENT = new AgentTypeId("agent-code");
  private static final InputId INPUT = new InputId("input");
  private static final Usage USAGE = new Usage("m", 10, 5, 20L, 30L, null);

  @TempDir Path folder;
  private TestServer testServer;
  private ContextId context;
  private final Origin root = Origin.root(new TaskId("task"), AGENT);

  @BeforeEach
  void open() {
    testServer = TestServer.open(folder.resolve("data"));
    context = testServer.context("thread");
    var metadata = Json.object().put("taskId", "task");
    testServer.append(context, new Message(new MessageId("m"), Role.USER, "hi", null, metadata));
    append(
        new TaskCreated(Initiator.USER, null, new MessageId("m"), "hi", null, null, null, null),
        status(TaskState.WORKING),
        USAGE,
        new InputRequired(INPUT, true, InputType.CLARIFICATION, "who?", null, null, null, null));
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void a_task_that_asks_and_cannot_go_on_waits_for_a_person_on_every_api() {
    append(status(TaskState.WAITING_INPUT));

    assertThat(a2aState()).isEqualTo("TASK_STATE_INPUT_REQUIRED");
    assertThat(waits()).isTrue();

    append(
        new InputReceived(
            INPUT, InputEvent.Provider.USER, "local", null, null, StringNode.valueOf("me")));
    assertThat(a2aState()).isEqualTo("TASK_STATE_WORKING");
    assertThat(waits()).isFalse();
    append(status(TaskState.WORKING), status(TaskState.CANCELED));
    assertThat(agUi()).contains("\"type\":\"interrupt\"");
  }

  @Test
  void a_task_that_is_to_stop_waits_for_nobody_on_any_api() {
    append(new CancelRequested("local", null), status(TaskState.WAITING_INPUT));

    assertThat(a2aState()).isEqualTo("TASK_STATE_WORKING");
    assertThat(waits()).isFalse();
    append(status(TaskState.CANCELED));
    assertThat(a2aState()).isEqualTo("TASK_STATE_CANCELED");
    assertThat(agUi()).doesNotContain("\"type\":\"interrupt\"");
  }

  @Test
  void sums_of_tokens_have_those_of_the_cache_on_every_api() {
    append(status(TaskState.CANCELED));

    assertThat(USAGE.totalTokens()).isEqualTo(65);
    assertThat(agUi()).contains("\"totalTokens\":65");
    assertThat(a2a().toString()).contains("\"totalTokenCount\":65");
  }

  @Test
  void the_sums_of_a_supervisor_in_an_old_log_have_those_of_its_agents_on_every_api() {
    var metadata =
        """
        {"usage": {"inputTokens": 1, "outputTokens": 2},
         "results": [{"usage": {"inputTokens": 10, "outputTokens": 20, "costUsd": 0.5}}]}
        """;
    append(
        status(TaskState.COMPLETED),
        new TaskComplete("done", null, (ObjectNode) Json.mapper().readTree(metadata)));

    var chat = json("/chat/tasks/task").path("result");
    assertThat(chat.path("usage")).hasToString("{\"inputTokens\":11,\"outputTokens\":22}");
    assertThat(chat.path("costUsd").decimalValue()).isEqualByComparingTo("0.5");
    var agent = json("/api/agents/task/messages").valueStream().toList().getLast();
    assertThat(agent.path("metadata").path("usage"))
        .hasToString("{\"input_tokens\":11,\"output_tokens\":22}");
    assertThat(agent.path("metadata").path("total_cost_usd").decimalValue())
        .isEqualByComparingTo("0.5");
  }

  private JsonNode json(String path) {
    return Json.mapper().readTree(testServer.get(path).body());
  }

  private static TaskStatus status(TaskState state) {
    return new TaskStatus(state, null, null);
  }

  private void append(Event... events) {
    testServer.log.append(
        context,
        AppendGuard.none(),
        _ -> Arrays.stream(events).map(event -> new EventDraft(root, event)).toList());
  }

  /// As the clock of tasks sees it.
  private boolean waits() {
    return testServer.log.inspect(
        context, state -> TaskTree.treeWaitsForPerson(state, root.taskId()));
  }

  private String a2aState() {
    return a2a().path("result").path("status").path("state").asString();
  }

  private JsonNode a2a() {
    var request = Json.object().put("jsonrpc", "2.0").put("id", 1).put("method", "GetTask");
    request.putObject("params").put("id", "task");
    var reply = testServer.post("/a2a/agent-code", request.toString(), "A2A-Version", "1.0");
    return Json.mapper().readTree(reply.body());
  }

  private String agUi() {
    return testServer.get("/ag-ui/agent-code/threads/thread/events?after=0").body();
  }
}
