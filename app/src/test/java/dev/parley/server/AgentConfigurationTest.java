package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What clients may want of an agent, and what is refused before anything begins.
class AgentConfigurationTest {

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() throws Exception {
    testServer =
        TestServer.configured(
            folder,
            """
            agents:
              - {id: talker}
              - {id: asks, type: cli, cli: codex, command: [no-such-program]}
              - {id: free, type: cli, cli: claude, command: [/bin/sh], permission: allow, allowedTools: [Read]}
              - {id: lines, type: cli, cli: jsonl, command: [no-such-program]}
              - {id: far, type: proxy, url: "http://127.0.0.1:1"}
            """);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "talker | {\"colour\":\"red\"} | unknown key: configuration.colour; known: sessionId",
        "talker | {\"model\":\"big\"} | talker does not support configuration.model",
        "asks | {\"allowedTools\":[\"shell\"]} | configuration.allowedTools: leave it out; of the"
            + " agent-specific keys it supports instructions, model",
        "asks | {\"mcp\":{\"servers\":[\"x\"]}} | configuration.mcp",
        "asks | {\"customArgs\":[\"--yolo\"]} | configuration.customArgs",
        "talker | {\"instructions\":\"be brief\"} | talker does not support"
            + " configuration.instructions",
        "asks | {\"mcp\":{\"servers\":[{\"name\":\"x\",\"command\":[\"sh\"]}]}} |"
            + " configuration.mcp.servers",
        "free | {\"mcp\":{\"servers\":[{\"name\":\"x\",\"command\":[\"sh\"],\"env\":{}}]}} | env"
            + " and headers may contain secrets",
        "lines | {\"model\":\"big\"} | lines does not support configuration.model",
        "far | {\"customArgs\":[\"-x\"]} | supports allowedTools, disallowedTools, model"
      })
  void what_an_agent_would_not_heed_is_refused_with_what_it_would(
      String agent, String configuration, String reason) {
    var reply =
        testServer.post("/api/agents", AgentsApiTestBed.body(agent, "say hi", configuration));

    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(400);
    assertThat(reply.body()).contains(reason);
    assertThat(testServer.get("/api/agents").body()).isEqualTo("[]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "asks | {\"model\":\"big\",\"metadata\":{\"colour\":\"red\"}}",
        "talker | {\"conversationName\":\"tea\"}",
        "far | {\"model\":\"big\"}",
        "asks | {\"instructions\":\"be brief\"}",
        "free | {\"mcp\":{\"servers\":[{\"name\":\"x\",\"command\":[\"sh\"]}]}}"
      })
  void what_it_heeds_is_taken(String agent, String configuration) {
    var reply =
        testServer.post("/api/agents", AgentsApiTestBed.body(agent, "say hi", configuration));

    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(201);
  }

  @Test
  void a_provider_whose_program_is_not_there_is_not_active() { // AGENT-50
    var providers = AgentsApiTestBed.json(testServer.get("/api/providers")).path("providers");

    assertThat(providers)
        .extracting(one -> one.path("type").asString() + " " + one.path("isActive").asBoolean())
        .contains("talker true", "asks false", "free true", "lines false", "far true");
  }

  @Test
  void agents_say_which_tools_they_have() { // CHAT-70
    var types = AgentsApiTestBed.json(testServer.get("/api/agent-types")).path("items");

    assertThat(types)
        .extracting(one -> one.path("id").asString() + " " + one.path("toolNames").toString())
        .contains("free [\"Read\"]", "asks [\"*\"]")
        .anyMatch(one -> one.startsWith("talker [") && one.contains("\"read_file\""));
  }
}
