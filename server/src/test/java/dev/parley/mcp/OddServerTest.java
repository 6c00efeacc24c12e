package dev.parley.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.McpDependencies.McpTimeouts;
import dev.parley.mcp.McpDependencies.McpTokenProvider;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.runtime.ManualTime;
import dev.parley.tool.FakeToolContext;
import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import dev.parley.tool.ToolAnswer;
import dev.parley.tool.ToolResult;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.BooleanNode;

/// Tests that a misbehaving server does no harm, and that its failures are reported.
class OddServerTest {

  @TempDir Path folder;

  private McpServers servers;

  @BeforeEach
  void start() {
    servers = McpTestServers.start(McpTestServers.odd(folder));
  }

  @AfterEach
  void close() {
    servers.close();
  }

  private Tool tool(String name) throws Exception {
    return McpTestServers.tool(servers, "odd", name);
  }

  private String text(String name) throws Exception {
    return FakeToolContext.done(new McpTestContext().call(tool(name), "{}"))
        .path("text")
        .asString("");
  }

  @Test
  void one_that_dies_during_a_call_is_told_with_its_last_words_and_started_anew() throws Exception {
    assertThat(FakeToolContext.failed(new McpTestContext().call(tool("crash"), "{}")))
        .contains("the MCP server odd is not available: it ended with exit code 3")
        .contains("about to crash");

    assertThat(text("garbage")).isEqualTo("fine");
  }

  @Test
  void all_calls_that_are_under_way_fail_when_it_dies() throws Exception {
    var mcpTestContext = new McpTestContext();
    var outcome = mcpTestContext.begin(tool("slow"), "{}", new CompletableFuture<>());
    mcpTestContext.reports.take();

    FakeToolContext.failed(new McpTestContext().call(tool("crash"), "{}"));

    assertThat(outcome.get(10, TimeUnit.SECONDS).toString()).contains("exit code 3");
  }

  @Test
  void a_flood_of_errors_is_read_and_forgotten() throws Exception {
    assertThat(text("flood")).isEqualTo("flooded");
    assertThat(FakeToolContext.failed(new McpTestContext().call(tool("crash"), "{}")).length())
        .isLessThan(1_000);
  }

  @Test
  void what_is_no_message_is_passed_over() throws Exception {
    assertThat(text("garbage")).isEqualTo("fine");
    assertThat(text("garbage")).isEqualTo("fine");
  }

  @Test
  void silence_ends_a_call_and_the_server_is_told() throws Exception {
    var time = new ManualTime();
    var odd = McpTestServers.odd(folder, Duration.ofSeconds(3));
    try (var hasty = McpTestServers.start(time, odd)) {
      var silent = McpTestServers.tool(hasty, "odd", "silent");

      var failure = timeOut(time, silent);
      // Another thread reads what the server prints.
      while (!failure.contains("thinking")) {
        failure = timeOut(time, silent);
      }
      assertThat(failure).contains("did not answer within 3000 ms");
      var cancelled = McpTestServers.tool(hasty, "odd", "cancelled");
      assertThat(FakeToolContext.done(new McpTestContext().call(cancelled, "{}")).toString())
          .contains("timed out");
    }
  }

  /// Calls the tool, and lets its time elapse when the server has received the call.
  private static String timeOut(ManualTime time, Tool tool) throws Exception {
    var context = new McpTestContext();
    var outcome = ManualTime.start("silent-call", () -> context.call(tool, "{}"));
    context.reports.take();
    return FakeToolContext.failed(time.advanceUntil(outcome, "silent-call"));
  }

  @Test
  void an_interrupt_cancels_that_request_and_no_other() throws Exception {
    var stopped = new McpTestContext();
    var other = new McpTestContext();
    var thread = new CompletableFuture<Thread>();
    var slow = tool("slow");
    var first = stopped.begin(slow, "{}", thread);
    var second = other.begin(slow, "{}", new CompletableFuture<>());
    stopped.reports.take();
    other.reports.take();

    thread.get().interrupt();

    assertThat(first.get(20, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
    var cancelled = Json.mapper().readTree(text("cancelled"));
    assertThat(cancelled).hasSize(1);
    assertThat(cancelled.get(0).get("requestId").isNumber()).isTrue();
    assertThat(second).isNotDone();
  }

  @Test
  void progress_without_a_total_only_grows_when_it_is_told_on() throws Exception {
    var mcpTestContext = new McpTestContext();

    assertThat(
            FakeToolContext.done(mcpTestContext.call(tool("progress"), "{}"))
                .get("text")
                .asString())
        .isEqualTo("done");

    assertThat(mcpTestContext.reports)
        .isNotEmpty()
        .allMatch(progressReport -> progressReport.progress() < 1);
    assertThat(mcpTestContext.reports.stream().toList().getLast().message()).isEqualTo("twenty");
    assertThat(mcpTestContext.reports.stream().toList().getLast().progress()).isEqualTo(20.0 / 30);
  }

  @Test
  void a_tool_that_comes_later_is_there_at_once() throws Exception {
    FakeToolContext.done(new McpTestContext().call(tool("grow"), "{\"name\": \"late\"}"));

    assertThat(text("late")).isEqualTo("called late");
  }

  @Test
  void its_errors_are_failures() throws Exception {
    assertThat(FakeToolContext.failed(new McpTestContext().call(tool("fail"), "{}")))
        .isEqualTo("it did not work");
    assertThat(FakeToolContext.failed(new McpTestContext().call(tool("refuse"), "{}")))
        .contains("-32602")
        .contains("no such colour");
  }

  @Test
  void it_gets_its_folder_and_no_environment_but_what_is_configured() throws Exception {
    var where =
        FakeToolContext.done(new McpTestContext().call(tool("where"), "{}")).get("structured");

    assertThat(where.get("folder").asString()).isEqualTo(folder.toRealPath().toString());
    assertThat(where.get("names").toString()).contains("TOLD").doesNotContain("JAVA_HOME", "HOME");
  }

  @Test
  void its_children_end_with_it() throws Exception {
    var child = ProcessHandle.of(Long.parseLong(text("spawn"))).orElseThrow();
    assertThat(child.isAlive()).isTrue();

    servers.close();

    child.onExit().get(20, TimeUnit.SECONDS);
  }

  @Test
  void a_large_result_is_cut() throws Exception {
    assertThat(text("large").length()).isLessThan(41_000);
  }

  @Test
  void blocks_of_every_kind_are_handed_on_without_what_is_too_large() throws Exception {
    var result = FakeToolContext.done(new McpTestContext().call(tool("mixed"), "{}"));

    assertThat(result.get("text").asString()).isEqualTo("a\nb");
    assertThat(result.get("content")).hasSize(3);
    assertThat(result.at("/content/0/omitted").asString()).contains("100000");
    assertThat(result.at("/content/1/resource/text").asString()).isEqualTo("small");
    assertThat(result.at("/content/2/depth").asInt()).isEqualTo(3);
  }

  @Test
  void a_name_that_models_do_not_take_is_changed() throws Exception {
    var tools = McpTestServers.tools(servers, "mcp:odd", "local");

    assertThat(tools).allMatch(tool -> tool.name().matches("[A-Za-z0-9_-]{1,64}"));
    var strange =
        tools.stream().filter(tool -> tool.name().startsWith("odd_strange_n_me")).findFirst();
    assertThat(
            FakeToolContext.done(new McpTestContext().call(strange.orElseThrow(), "{}")).toString())
        .contains("called strange näme/xxx");
  }

  @Test
  void a_form_is_filled_in_declined_or_left() throws Exception {
    var asks = tool("ask");
    var colour = Json.object().put("colour", "blue");
    var filling = new McpTestContext().answering(new ToolAnswer.Given(colour));

    assertThat(FakeToolContext.done(filling.call(asks, "{}")).get("text").asString())
        .isEqualTo("{\"action\":\"accept\",\"content\":{\"colour\":\"blue\"}}");
    assertThat(filling.questions.getFirst().type()).isEqualTo(InputType.DATA);
    assertThat(filling.questions.getFirst().schema().path("required").toString())
        .isEqualTo("[\"colour\"]");
    var declining = new McpTestContext().answering(new ToolAnswer.Lapsed("declined", true));
    assertThat(FakeToolContext.done(declining.call(asks, "{}")).toString()).contains("decline");
    assertThat(FakeToolContext.done(new McpTestContext().call(asks, "{}")).toString())
        .contains("cancel");
  }

  @Test
  void a_question_without_a_form_is_confirmed() throws Exception {
    var sure = new McpTestContext().answering(new ToolAnswer.Given(BooleanNode.TRUE));

    assertThat(FakeToolContext.done(sure.call(tool("confirm"), "{}")).get("text").asString())
        .isEqualTo("accept");
    assertThat(sure.questions.getFirst().type()).isEqualTo(InputType.CONFIRMATION);
  }

  @Test
  void an_interrupt_also_ends_a_question() throws Exception {
    var mcpTestContext = new McpTestContext().neverAnswering();
    var outcome = mcpTestContext.begin(tool("ask"), "{}", new CompletableFuture<>());

    mcpTestContext.asking.get(10, TimeUnit.SECONDS).interrupt();

    assertThat(outcome.get(20, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
    assertThat(text("cancelled")).contains("the request was canceled");
  }

  @Test
  void a_question_that_may_be_for_either_of_two_people_is_put_to_neither() throws Exception {
    var ann =
        new McpTestContext("ann")
            .answering(new ToolAnswer.Given(Json.object().put("colour", "red")));
    var bob =
        new McpTestContext("bob")
            .answering(new ToolAnswer.Given(Json.object().put("colour", "red")));
    var both = tool("together");

    var first = ann.begin(both, "{}", new CompletableFuture<>());
    ann.reports.take();
    var second = bob.begin(both, "{}", new CompletableFuture<>());

    assertThat(first.get(10, TimeUnit.SECONDS).toString()).contains("cancel");
    assertThat(second.get(10, TimeUnit.SECONDS).toString()).contains("cancel");
    assertThat(ann.questions).isEmpty();
    assertThat(bob.questions).isEmpty();
  }

  @Test
  void a_server_that_asks_is_called_by_one_at_a_time_from_then_on() throws Exception {
    FakeToolContext.done(new McpTestContext().call(tool("ask"), "{}"));
    var ann = new McpTestContext("ann").neverAnswering();
    var waiting = ann.begin(tool("ask"), "{}", new CompletableFuture<>());
    var asked = ann.asking.get(10, TimeUnit.SECONDS);
    var bob =
        new McpTestContext("bob")
            .answering(new ToolAnswer.Given(Json.object().put("colour", "green")));
    var next = bob.begin(tool("ask"), "{}", new CompletableFuture<>());
    assertThat(next).isNotDone();

    asked.interrupt();

    assertThat(waiting.get(10, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
    assertThat(next.get(10, TimeUnit.SECONDS).toString()).contains("green");
  }

  @Test
  void what_is_configured_holds_whatever_the_server_claims() throws Exception {
    var odd = McpTestServers.odd(folder);
    var strict = new McpServer("odd", odd.endpoint(), null, Effect.AT_MOST_ONCE, odd.timeout());
    var forbidden = new McpServer("odd", odd.endpoint(), Permission.DENY, null, odd.timeout());
    try (var some = McpTestServers.start(strict);
        var others = McpTestServers.start(forbidden)) {
      var tool = McpTestServers.tool(some, "odd", "crash");
      assertThat(tool.effect()).isEqualTo(Effect.AT_MOST_ONCE);
      assertThat(tool.permission()).isEqualTo(Permission.ASK);
      assertThat(McpTestServers.tool(others, "odd", "crash").permission())
          .isEqualTo(Permission.DENY);
      assertThat(McpTestServers.tool(others, "odd", "crash").effect()).isEqualTo(Effect.PURE);
    }
  }

  @Test
  void one_that_cannot_run_leaves_a_tool_that_says_why() throws Exception {
    try (var down = McpTestServers.start(McpTestServers.odd(folder, "dies"))) {
      var tools = McpTestServers.tools(down, "mcp:odd", "local");

      assertThat(McpTestServers.names(tools)).containsExactly("odd_connect");
      assertThat(FakeToolContext.failed(new McpTestContext().call(tools.getFirst(), "{}")))
          .contains("it ended with exit code 7")
          .contains("no licence found")
          .containsPattern("[.]\nThe next attempt is in");
    }
  }

  @Test
  void one_that_is_not_there_leaves_a_tool_that_says_so() throws Exception {
    var command = List.of(folder.resolve("nothing").toString());
    var absent =
        new McpServer(
            "gone",
            new McpServer.StdioEndpoint(command, McpTestServers.environment(), folder),
            null,
            null,
            McpServer.TIMEOUT);
    try (var down = McpTestServers.start(absent)) {
      var connect = McpTestServers.tool(down, "gone", "connect");

      assertThat(FakeToolContext.failed(new McpTestContext().call(connect, "{}")))
          .contains("exit code 127")
          .contains("not found");
    }
  }

  @Test
  void one_that_never_says_hello_is_given_up_in_time_and_does_not_hold_up_the_start()
      throws Exception {
    var mcpTimeouts =
        new McpTimeouts(
            Duration.ofMillis(300),
            Duration.ofMinutes(1),
            Duration.ofMinutes(1),
            Duration.ofSeconds(1),
            Duration.ofSeconds(10),
            Duration.ofMinutes(1));
    var mcpServersDependencies = McpTestServers.parts(McpTokenProvider.NONE, mcpTimeouts);
    try (var mute =
        new McpServers(List.of(McpTestServers.odd(folder, "mute")), mcpServersDependencies)
            .start()) {
      var connect = McpTestServers.tool(mute, "odd", "connect");

      assertThat(new McpTestContext().call(connect, "{}")).isInstanceOf(ToolResult.Failed.class);
    }
  }
}
