package dev.parley.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import dev.parley.tool.FakeToolContext;
import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import dev.parley.tool.ToolAnswer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Tests a real server through [dev.parley.tool.Tool], over pipes and over HTTP.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class EverythingServerTest {

  private McpServers servers;

  /// A server with the name `everything`.
  abstract McpServer server() throws Exception;

  McpServers servers() {
    return servers;
  }

  @BeforeAll
  void open() throws Exception {
    servers = McpTestServers.start(server());
  }

  @AfterAll
  void close() {
    servers.close();
  }

  @Test
  void its_tools_are_described_as_the_server_does() throws Exception {
    var echo = McpTestServers.tool(servers, "everything", "echo");

    assertThat(echo.description()).containsIgnoringCase("echo");
    assertThat(echo.schema().at("/properties/message/type").asString()).isEqualTo("string");
    assertThat(echo.provider()).isEqualTo("mcp");
    assertThat(echo.concurrent()).isTrue();
  }

  @Test
  void what_only_reads_may_be_called_unasked_and_what_does_not_is_asked_about() throws Exception {
    var tools = McpTestServers.tools(servers, "mcp:everything", "local");

    assertThat(tools)
        .filteredOn(tool -> tool.name().equals("everything_get-sum"))
        .allMatch(tool -> tool.effect() == Effect.PURE && tool.permission() == Permission.ALLOW)
        .hasSize(1);
    assertThat(tools)
        .filteredOn(tool -> tool.name().equals("everything_gzip-file-as-resource"))
        .allMatch(tool -> tool.effect() == Effect.IDEMPOTENT && tool.permission() == Permission.ASK)
        .hasSize(1);
    assertThat(tools)
        .filteredOn(tool -> tool.name().equals("everything_toggle-simulated-logging"))
        .allMatch(
            tool -> tool.effect() == Effect.AT_MOST_ONCE && tool.permission() == Permission.ASK)
        .hasSize(1);
  }

  @Test
  void what_runs_only_as_a_task_of_the_server_is_left_out() throws Exception {
    assertThat(McpTestServers.names(McpTestServers.tools(servers, "mcp:everything", "local")))
        .contains("everything_echo")
        .doesNotContain("everything_simulate-research-query");
  }

  @Test
  void one_tool_can_be_had_alone() throws Exception {
    assertThat(McpTestServers.names(McpTestServers.tools(servers, "mcp:everything/echo", "local")))
        .containsExactly("everything_echo");
  }

  @Test
  void it_echoes_and_adds() throws Exception {
    var echo = McpTestServers.tool(servers, "everything", "echo");
    var sum = McpTestServers.tool(servers, "everything", "get-sum");

    assertThat(
            FakeToolContext.done(new McpTestContext().call(echo, "{\"message\": \"grüß dich\"}")))
        .isEqualTo(Json.object().put("text", "Echo: grüß dich"));
    assertThat(
            FakeToolContext.done(new McpTestContext().call(sum, "{\"a\": 2, \"b\": 40}"))
                .get("text")
                .asString())
        .contains("42");
  }

  @Test
  void arguments_that_do_not_fit_are_told_to_the_model() throws Exception {
    var sum = McpTestServers.tool(servers, "everything", "get-sum");

    assertThat(FakeToolContext.failed(new McpTestContext().call(sum, "{\"a\": \"two\"}")))
        .contains("Invalid");
  }

  @Test
  void structured_content_is_kept_and_not_repeated_as_text() throws Exception {
    var weather = McpTestServers.tool(servers, "everything", "get-structured-content");

    var result =
        FakeToolContext.done(new McpTestContext().call(weather, "{\"location\": \"Chicago\"}"));

    assertThat(result.at("/structured/temperature").asInt()).isEqualTo(36);
    assertThat(result.has("text")).isFalse();
  }

  @Test
  void an_image_is_handed_on() throws Exception {
    var image = McpTestServers.tool(servers, "everything", "get-tiny-image");

    var result = FakeToolContext.done(new McpTestContext().call(image, "{}"));

    assertThat(result.at("/content/0/type").asString()).isEqualTo("image");
    assertThat(result.at("/content/0/mimeType").asString()).isEqualTo("image/png");
  }

  @Test
  void progress_is_told() throws Exception {
    var slow = McpTestServers.tool(servers, "everything", "trigger-long-running-operation");
    var mcpTestContext = new McpTestContext();

    var result =
        FakeToolContext.done(mcpTestContext.call(slow, "{\"duration\": 0.4, \"steps\": 4}"));

    assertThat(result.get("text").asString()).contains("completed");
    assertThat(mcpTestContext.reports).isNotEmpty();
    assertThat(mcpTestContext.reports)
        .extracting(McpTestContext.ProgressReport::progress)
        .isSorted();
    var first = mcpTestContext.reports.take();
    assertThat(first.progress()).isBetween(0.25, 1.0);
    assertThat(first.metadata().get("stepsTotal").asInt()).isEqualTo(4);
  }

  @Test
  void an_interrupt_ends_a_call_at_once_and_the_server_goes_on_answering() throws Exception {
    var slow = McpTestServers.tool(servers, "everything", "trigger-long-running-operation");
    var mcpTestContext = new McpTestContext();
    var thread = new CompletableFuture<Thread>();

    var outcome = mcpTestContext.begin(slow, "{\"duration\": 1000, \"steps\": 10000}", thread);
    mcpTestContext.reports.take();
    thread.get().interrupt();

    assertThat(outcome.get(20, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
    var echo = McpTestServers.tool(servers, "everything", "echo");
    assertThat(
            FakeToolContext.done(new McpTestContext().call(echo, "{\"message\": \"still\"}"))
                .toString())
        .contains("still");
  }

  @Test
  void a_question_of_the_server_reaches_the_caller_and_its_answer_the_server() throws Exception {
    var asks = asks();
    var answer = Json.object().put("name", "Ada").put("integer", 7);
    var mcpTestContext = new McpTestContext().answering(new ToolAnswer.Given(answer));

    var result = FakeToolContext.done(mcpTestContext.call(asks, "{}")).get("text").asString();

    assertThat(mcpTestContext.questions).hasSize(1);
    assertThat(mcpTestContext.questions.getFirst().prompt())
        .contains("everything")
        .contains("inputs");
    assertThat(mcpTestContext.questions.getFirst().schema().at("/required/0").asString())
        .isEqualTo("name");
    assertThat(result).contains("- Name: Ada").contains("- Favorite Integer: 7");
  }

  @Test
  void a_question_that_nobody_answers_is_canceled() throws Exception {

    var result =
        FakeToolContext.done(new McpTestContext().call(asks(), "{}")).get("text").asString();

    assertThat(result).contains("cancelled");
  }

  /// The server offers this tool only after it has received `initialized`.
  Tool asks() throws Exception {
    return McpTestServers.tool(servers, "everything", "trigger-elicitation-request");
  }
}
