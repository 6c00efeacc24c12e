package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.external.cli.CliProgram;
import dev.parley.external.cli.CliSettings;
import dev.parley.external.cli.LineMapping;
import dev.parley.protocol.AgentTypeId;
import dev.parley.server.AgentConfig.AgentKind;
import dev.parley.tool.Tool.Permission;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CliConfigTest {

  @TempDir Path folder;

  @Test
  void a_program_is_configured() throws IOException {
    var settings =
        settings(
            """
            agents:
              - id: coder
                type: cli
                cli: claude
                command: [npx, claude]
                args: ["--effort", low]
                model: sonnet
                instructions: Be brief.
                allowedTools: [Read]
                disallowedTools: [WebFetch]
                mcp: [e]
                maxTurns: 3
                env: {LANG: C}
                silence: 5s
                permission: ask
            mcpServers: {e: {url: "http://127.0.0.1:1/mcp"}}
            """,
            Map.of("ANTHROPIC_API_KEY", "secret", "OPENAI_API_KEY", "other", "EDITOR", "vi"));

    assertThat(settings.program()).isEqualTo(CliProgram.CLAUDE);
    assertThat(settings.command()).containsExactly("npx", "claude");
    assertThat(settings.args()).containsExactly("--effort", "low");
    assertThat(settings.model()).isEqualTo("sonnet");
    assertThat(settings.mcp()).hasSize(1);
    assertThat(settings.maxTurns()).isEqualTo(3);
    assertThat(settings.silence()).isEqualTo(Duration.ofSeconds(5));
    assertThat(settings.policy().standard()).isEqualTo(Permission.ASK);
    assertThat(settings.environment())
        .containsEntry("ANTHROPIC_API_KEY", "secret")
        .containsEntry("LANG", "C")
        .doesNotContainKeys("OPENAI_API_KEY", "EDITOR");
    assertThat(settings.toString()).doesNotContain("secret");
  }

  @Test
  void a_mapping_is_configured() throws IOException {
    var settings =
        settings(
            """
            agents:
              - id: own
                type: cli
                cli: jsonl
                command: [own]
                resume: ["--session", "{session}"]
                mapping: {type: $.event, text: $.delta, types: {text: [token]}}
            """,
            Map.of());

    assertThat(settings.mapping())
        .isEqualTo(
            new LineMapping(
                "$.event",
                Map.of(LineMapping.LineType.TEXT, List.of("token")),
                Map.of(LineMapping.LineField.TEXT, "$.delta")));
    assertThat(settings.resume()).containsExactly("--session", "{session}");
  }

  @Test
  void programs_on_the_path_are_agents_by_themselves_where_none_are_configured()
      throws IOException {
    var program = Files.writeString(folder.resolve("claude"), "#!/bin/sh\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    Files.writeString(folder.resolve("codex"), "not a program");
    var environment = Map.of("PATH", "/nowhere:" + folder);

    var config =
        Config.load(
            null, new Config.ProcessEnvironment(environment, folder, folder), TestServer.MODULES);

    assertThat(config.agents())
        .extracting(AgentConfig::id)
        .contains(new AgentTypeId("agent-code"), new AgentTypeId("claude-code"))
        .doesNotContain(new AgentTypeId("codex"));
    var file = Files.writeString(folder.resolve("parley.yaml"), "agents: [{id: a}]");
    assertThat(
            Config.load(
                    file,
                    new Config.ProcessEnvironment(environment, folder, folder),
                    TestServer.MODULES)
                .agents())
        .hasSize(1);
  }

  private CliSettings settings(String yaml, Map<String, String> environment) throws IOException {
    var file = Files.writeString(folder.resolve("parley.yaml"), yaml);
    var all = new HashMap<>(environment);
    var agent =
        Config.load(file, new Config.ProcessEnvironment(all, folder, folder), TestServer.MODULES)
            .agents()
            .getFirst();
    return ((AgentKind.Cli) agent.kind()).settings();
  }
}
