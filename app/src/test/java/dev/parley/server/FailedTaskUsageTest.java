package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// What a task took that failed after it had called its model.
@Timeout(120)
class FailedTaskUsageTest {

  private static final String LINES =
      """
      {"type":"stream_event","event":{"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":12}}}}
      {"type":"stream_event","event":{"type":"message_delta","delta":{},"usage":{"output_tokens":6}}}
      {"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":1,"errors":["broken"]}
      """;

  @TempDir Path folder;

  private TestServer site() throws Exception {
    var lines = Files.writeString(folder.resolve("lines"), LINES);
    var agent =
        "type: cli, cli: claude, command: [/bin/sh, -c, \"cat >/dev/null & cat "
            + lines
            + "\", sh]";
    return TestServer.configured(
        folder,
        """
        agents: [{id: one, AGENT}, {id: two, AGENT}]
        supervisor: {model: rules}
        models: {rules: {provider: offline}}
        """
            .replace("AGENT", agent));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "one"})
  void EVENT_12_the_result_in_the_chat_api_has_the_sums(String agent) throws Exception {
    try (var testServer = site()) {
      var chatTestClient = new ChatTestClient(testServer);
      var message = Json.object().put("content", "go");
      if (!agent.isEmpty()) {
        message.put("agentId", agent);
      }
      var sent = chatTestClient.sent(message);
      chatTestClient.follow(sent);

      var result = chatTestClient.read("/chat/tasks/" + sent.taskId()).path("result");
      assertThat(result.path("status").asString()).isEqualTo("failure");
      check(result.path("usage"), "inputTokens", "outputTokens");
      check(result.path("modelUsage").path("c"), "inputTokens", "outputTokens");
      assertThat(result.path("numTurns").isNumber()).isTrue();
    }
  }

  @Test
  void AGENT_16_the_response_in_the_agents_api_has_the_sums() throws Exception {
    try (var testServer = site()) {
      var id =
          AgentsApiTestBed.id(
              testServer.post("/api/agents", "{\"type\":\"one\",\"prompt\":\"go\"}"));
      var context =
          AgentsApiTestBed.json(testServer.get("/api/agents/" + id)).path("session").path("id");
      ModelInstructions.await(
          testServer.log,
          new dev.parley.protocol.ContextId(context.asString()),
          e -> e.kind() == Kind.ERROR);
      var messages =
          AgentsApiTestBed.json(testServer.get("/api/agents/" + id + "/messages"))
              .valueStream()
              .toList();
      var metadata = messages.getLast().path("metadata");
      assertThat(metadata.path("status").asString()).isEqualTo("failed");
      check(metadata.path("usage"), "input_tokens", "output_tokens");
      assertThat(metadata.path("num_turns").asInt()).isOne();
    }
  }

  private static void check(JsonNode usage, String input, String output) {
    assertThat(usage.path(input).asInt()).as(usage.toString()).isEqualTo(12);
    assertThat(usage.path(output).asInt()).as(usage.toString()).isEqualTo(6);
  }
}
