package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.mcp.EverythingServer;
import dev.parley.mcp.McpTestServers;
import dev.parley.model.FakeModelServer;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.Answerer;
import dev.parley.task.LogInvariants;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Real MCP servers, as processes and over HTTP, through the whole: a model asks for their tools.
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class McpLoopTest {

  private static final int ATTEMPTS_MAX = 40;

  @TempDir static Path folder;

  private FakeModelServer model;
  private EverythingServer peer;
  private TestServer testServer;

  @BeforeAll
  void open() throws Exception {
    model = ModelInstructions.model();
    peer = EverythingServer.start();
    Files.writeString(folder.resolve("note.txt"), "remember the milk");
    var servers =
        """
        mcpServers:
          everything: {command: [node, '%s', stdio]}
          remote: {url: '%s'}
          files: {command: [node, '%s', '%s']}
        """
            .formatted(
                McpTestServers.script("everything"),
                peer.url(),
                McpTestServers.script("filesystem"),
                folder);
    var tools = "'mcp:everything', 'mcp:remote', 'mcp:files'";
    testServer = TestServer.configured(folder, ModelInstructions.config(model, tools, servers));
  }

  @AfterAll
  void close() {
    testServer.close();
    peer.close();
    model.close();
  }

  @Test
  void servers_of_both_kinds_answer_side_by_side() throws Exception {
    var context = testServer.context("echo");
    var path = Json.object().put("path", folder.resolve("note.txt").toString());
    var task =
        say(
            context,
            "!everything_echo {\"message\":\"near\"}\n!remote_echo {\"message\":\"far\"}\n"
                + "!files_read_text_file "
                + path);

    assertThat(answer(context, task)).contains("Echo: near", "Echo: far", "remember the milk");
    assertThat(of(context, ToolStart.class))
        .allMatch(start -> start.metadata().path("provider").asString().equals("mcp"));
    LogInvariants.check(testServer.log, context);
  }

  @ParameterizedTest
  @ValueSource(strings = {"everything", "remote"})
  void progress_of_a_long_call_is_in_the_log(String server) throws Exception {
    var context = testServer.context("progress-" + server);
    var task =
        say(
            context,
            "!" + server + "_trigger-long-running-operation {\"duration\":0.6,\"steps\":3}");

    assertThat(answer(context, task)).contains("completed");
    assertThat(of(context, ToolProgress.class))
        .isNotEmpty()
        .allMatch(told -> told.metadata().path("stepsTotal").asInt() == 3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"everything", "remote"})
  void a_call_can_be_canceled_and_the_task_goes_on(String server) throws Exception {
    var context = testServer.context("cancel-" + server);
    var task =
        say(
            context,
            "!"
                + server
                + "_trigger-long-running-operation {\"duration\":1000,\"steps\":5000}\n!"
                + server
                + "_echo {\"message\":\"still\"}");
    var told =
        (ToolProgress)
            ModelInstructions.await(testServer.log, context, e -> e.event() instanceof ToolProgress)
                .event();

    var reply =
        testServer.post(
            "/api/contexts/"
                + context
                + "/tasks/"
                + task
                + "/tools/"
                + told.toolCallId()
                + "/cancel",
            "");

    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(202);
    assertThat(answer(context, task)).contains("canceled", "Echo: still");
    assertThat(of(context, ToolComplete.class))
        .filteredOn(end -> end.toolCallId().equals(told.toolCallId()))
        .singleElement()
        .matches(end -> end.outcome() == ToolEvent.Outcome.CANCELED);
    LogInvariants.check(testServer.log, context);
  }

  @ParameterizedTest
  @ValueSource(strings = {"everything", "remote"})
  void a_question_of_a_server_is_put_to_a_person_and_the_answer_to_the_server(String server)
      throws Exception {
    for (var attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      var context = testServer.context("ask-" + server + "-" + attempt);
      var task = say(context, "!" + server + "_trigger-elicitation-request {}");
      var asked =
          ModelInstructions.await(
              testServer.log,
              context,
              e -> e.event() instanceof InputRequired || e.event() instanceof ToolComplete);
      // The server offers this tool only once it knows that we take questions.
      if (asked.event() instanceof InputRequired required) {
        assertThat(required.schema().at("/required/0").asString()).isEqualTo("name");
        var value = Json.object().put("name", "Ada").put("integer", 7);
        testServer.tasks.answer(
            context, required.inputId(), value, Answerer.trusted("local"), AppendGuard.none());

        assertThat(answer(context, task)).contains("Name: Ada", "Favorite Integer: 7");
        LogInvariants.check(testServer.log, context);
        return;
      }
    }
    throw new AssertionError("the tool was never there");
  }

  private TaskId say(ContextId context, String text) {
    var body = Json.object().put("content", text).toString();
    var reply = testServer.post("/api/contexts/" + context + "/messages", body);
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(202);
    return new TaskId(Json.mapper().readTree(reply.body()).path("taskId").asString());
  }

  private String answer(ContextId context, TaskId task) throws InterruptedException {
    var end =
        ModelInstructions.await(
            testServer.log,
            context,
            e -> task.equals(e.taskId()) && e.event() instanceof TaskComplete);
    return ((TaskComplete) end.event()).content();
  }

  private <E extends Event> List<E> of(ContextId context, Class<E> type) {
    return LogInvariants.read(testServer.log, context).stream()
        .map(Entry::event)
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }
}
