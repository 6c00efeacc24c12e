package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.external.cli.RealPrograms;
import dev.parley.protocol.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The real Claude Code behind a session, against a stand-in model (SESSION-58).
@Tag("long")
@Timeout(300)
class RealClaudeSessionsTest {

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void it_has_forgotten_what_a_rewind_took_back(boolean byMessage) throws Exception {
    var home = Files.createDirectories(folder.resolve("home"));
    try (var model = RealPrograms.model();
        var testServer =
            TestServer.configured(
                folder,
                """
                agents:
                  - {id: agent-code, description: "Writes code"}
                  - id: coder
                    type: cli
                    cli: claude
                    command: [node, %s]
                    env:
                      HOME: %s
                      ANTHROPIC_API_KEY: dummy
                      ANTHROPIC_BASE_URL: %s
                      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1"
                """
                    .formatted(
                        RealPrograms.module("@anthropic-ai/claude-code/cli-wrapper.cjs"),
                        home,
                        model.url()))) {
      var kagentTestClient = new KagentTestClient(testServer);
      kagentTestClient.post("/api/sessions", Json.object().put("id", "c"));
      kagentTestClient.ask("c", "coder", "PLAIN alpha");
      var taken = kagentTestClient.said("c", "coder", "PLAIN bravo");
      kagentTestClient.ended("c", taken);
      assertThat(model.lastRequest().body().toString()).contains("alpha", "bravo");

      if (byMessage) {
        kagentTestClient.rewind("c", taken, "", false);
      } else {
        var before = Json.object().put("rewind_before_invocation_id", taken);
        KagentTestClient.data(200, kagentTestClient.post("/api/sessions/c/rewind", before));
      }
      kagentTestClient.ask("c", "coder", "PLAIN charlie");

      assertThat(model.lastRequest().body().toString())
          .contains("alpha", "charlie")
          .doesNotContain("bravo");
      assertThat(kagentTestClient.conversation("c"))
          .contains("PLAIN charlie")
          .doesNotContain("PLAIN bravo");
    }
  }
}
