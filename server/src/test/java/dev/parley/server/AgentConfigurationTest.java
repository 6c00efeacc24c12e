package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What clients may want of an agent, and what is refused before anything begins.
class AgentConfigurationTest {

  @TempDir Path folder;
  private Site site;

  @BeforeEach
  void open() throws Exception {
    site =
        Site.configured(
            folder,
            """
            agents:
              - {id: talker}
              - {id: asks, type: cli, cli: codex, command: [no-such-program]}
              - {id: lines, type: cli, cli: jsonl, command: [no-such-program]}
              - {id: far, type: proxy, url: "http://127.0.0.1:1"}
            """);
  }

  @AfterEach
  void close() {
    site.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "talker | {\"colour\":\"red\"} | no configuration.colour; known: sessionId",
        "talker | {\"model\":\"big\"} | talker cannot honour configuration.model",
        "asks | {\"allowedTools\":[\"shell\"]} | configuration.allowedTools: leave it out; of what not all agents know it can honour model",
        "asks | {\"mcp\":{\"servers\":[\"x\"]}} | configuration.mcp",
        "asks | {\"customArgs\":[\"--yolo\"]} | configuration.customArgs",
        "lines | {\"model\":\"big\"} | lines cannot honour configuration.model",
        "far | {\"customArgs\":[\"-x\"]} | can honour allowedTools, disallowedTools, model"
      })
  void what_an_agent_would_not_heed_is_refused_with_what_it_would(
      String agent, String configuration, String reason) {
    var reply = site.post("/api/agents", AgentsScene.body(agent, "say hi", configuration));

    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(400);
    assertThat(reply.body()).contains(reason);
    assertThat(site.get("/api/agents").body()).isEqualTo("[]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "asks | {\"model\":\"big\",\"metadata\":{\"colour\":\"red\"}}",
        "talker | {\"conversationName\":\"tea\"}",
        "far | {\"model\":\"big\"}"
      })
  void what_it_heeds_is_taken(String agent, String configuration) {
    var reply = site.post("/api/agents", AgentsScene.body(agent, "say hi", configuration));

    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(201);
  }
}
