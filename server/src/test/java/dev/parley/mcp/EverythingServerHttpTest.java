package dev.parley.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import dev.parley.tool.FakeToolContext;
import dev.parley.tool.ToolAnswer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// Tests the real server over streamable HTTP.
final class EverythingServerHttpTest extends EverythingServerTest {

  private EverythingServer peer;

  @Override
  McpServer server() throws Exception {
    peer = EverythingServer.start();
    return peer.server();
  }

  @AfterAll
  void stop() {
    peer.close();
  }

  @Test
  void a_server_that_was_started_anew_is_connected_to_anew() throws Exception {
    try (var own = EverythingServer.start();
        var servers = McpTestServers.start(own.server())) {
      var echo = McpTestServers.tool(servers, "everything", "echo");
      FakeToolContext.done(new McpTestContext().call(echo, "{\"message\": \"before\"}"));

      own.restart();

      assertThat(
              FakeToolContext.done(new McpTestContext().call(echo, "{\"message\": \"after\"}"))
                  .toString())
          .contains("after");
    }
  }

  @Test
  void a_call_fails_soon_when_the_server_dies_during_it() throws Exception {
    try (var own = EverythingServer.start();
        var servers = McpTestServers.start(own.server())) {
      var slow = McpTestServers.tool(servers, "everything", "trigger-long-running-operation");
      var mcpTestContext = new McpTestContext();
      var outcome =
          mcpTestContext.begin(
              slow, "{\"duration\": 1000, \"steps\": 10000}", new CompletableFuture<>());
      mcpTestContext.reports.take();

      own.stop();

      assertThat(outcome.get(20, TimeUnit.SECONDS).toString())
          .contains("the MCP server everything is not available");
    }
  }

  @Test
  void questions_during_several_calls_reach_the_callers_they_are_for() throws Exception {
    var ann = new McpTestContext("ann").answering(new ToolAnswer.Given(name("Ann")));
    var bob = new McpTestContext("bob").answering(new ToolAnswer.Given(name("Bob")));
    var asks = asks();

    var first = ann.begin(asks, "{}", new CompletableFuture<>());
    var second = bob.begin(asks, "{}", new CompletableFuture<>());

    assertThat(first.get(20, TimeUnit.SECONDS).toString()).contains("Name: Ann");
    assertThat(second.get(20, TimeUnit.SECONDS).toString()).contains("Name: Bob");
  }

  private static JsonNode name(String name) {
    return Json.object().put("name", name);
  }
}
