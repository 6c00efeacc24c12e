package dev.parley.external.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.agent.ToolPolicy;
import dev.parley.mcp.McpServer;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.Tool.Permission;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;

/// Programs that ask for approval, each in its own protocol: scripts that behave like the real
/// programs.
@Timeout(60)
class CliQuestionsTest {

  @TempDir Path folder;

  private CliTestBed world(CliProgram cliProgram) {
    return new CliTestBed(TaskTestBed.newLog(), folder, settings(cliProgram));
  }

  private CliSettings settings(CliProgram cliProgram) {
    try {
      var name = "/cli/" + cliProgram.wire() + ".sh";
      var script = Path.of(CliQuestionsTest.class.getResource(name).toURI());
      return CliSettings.of(
          cliProgram,
          List.of("/bin/sh", script.toString()),
          Map.of("PATH", "/usr/bin:/bin", "HOME", folder.resolve("home").toString()));
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CODEX", "GEMINI"})
  void a_call_is_made_once_a_person_has_approved_it(CliProgram cliProgram) throws Exception {
    try (var cli = world(cliProgram)) {
      var task = cli.say("touch it");
      var question = cli.question(task);
      assertThat(question.metadata().path("toolCall").toString()).contains("touch it");
      assertThat(question.metadata().path("toolCallId").asString())
          .isEqualTo(cli.all(task, ToolStart.class).getFirst().toolCallId().value());
      cli.answer(question, BooleanNode.TRUE);

      assertThat(cli.answer(task)).startsWith("Hello, ");
      assertThat(cli.read("done")).isEqualTo("touch it");
      assertThat(cli.all(task, ToolComplete.class)).singleElement().matches(ToolComplete::success);
      assertThat(cli.all(task, ContentDelta.class).getFirst().delta()).isEqualTo("Hel");
      assertThat(cli.all(task, Usage.class)).singleElement().matches(u -> u.outputTokens() == 3);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CODEX", "GEMINI"})
  void a_call_that_a_person_denies_is_not_made(CliProgram cliProgram) throws Exception {
    try (var cli = world(cliProgram)) {
      var task = cli.say("touch it");
      cli.answer(
          cli.question(task), Json.object().put("approved", false).put("reason", "not today"));

      assertThat(cli.answer(task)).startsWith("Hello, ");
      assertThat(cli.read("done")).isEmpty();
      assertThat(cli.all(task, ToolComplete.class))
          .singleElement()
          .matches(call -> !call.success() && call.outcome() == null);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CODEX", "GEMINI"})
  void a_call_that_cannot_be_changed_is_approved_as_it_is_or_not_at_all(CliProgram cliProgram)
      throws Exception {
    try (var cli = world(cliProgram)) {
      var task = cli.say("touch it");
      var question = cli.question(task);
      var changed = Json.object().put("approved", true);
      changed.putObject("arguments").put("command", "touch other");

      assertThatThrownBy(() -> cli.answer(question, changed)).isInstanceOf(Rejection.Invalid.class);
      cli.answer(question, BooleanNode.FALSE);
      assertThat(cli.answer(task)).startsWith("Hello, ");
      assertThat(cli.read("done")).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CODEX", "GEMINI"})
  void the_next_task_goes_on_with_the_session_and_tells_nothing_twice(CliProgram cliProgram)
      throws Exception {
    try (var cli = world(cliProgram)) {
      assertThat(cli.ask("PLAIN alpha")).isEqualTo("Hello, PLAIN alpha;");
      var second = cli.say("PLAIN bravo");

      assertThat(cli.answer(second)).isEqualTo("Hello, PLAIN alpha;PLAIN bravo;");
      assertThat(cli.all(second, InputRequired.class)).isEmpty();
      if (cliProgram == CliProgram.CODEX) {
        assertThat(cli.all(second, Usage.class))
            .extracting(Usage::inputTokens)
            .containsExactly(10L);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CODEX", "GEMINI"})
  void a_session_that_is_lost_is_begun_anew(CliProgram cliProgram) throws Exception {
    try (var cli = world(cliProgram)) {
      cli.ask("PLAIN alpha");
      try (var sessions = Files.list(cli.home.resolve("sessions"))) {
        for (var session : sessions.toList()) {
          Files.delete(session);
        }
      }

      assertThat(cli.ask("PLAIN bravo")).contains("alpha", "PLAIN bravo");
    }
  }

  @Test
  void a_question_that_claude_code_takes_back_is_no_longer_open() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("regret touch it");

      assertThat(cli.answer(task)).isEqualTo("never mind");
      assertThat(cli.all(task, InputRequired.class)).hasSizeLessThan(2);
      assertThat(cli.all(task, InputLapsed.class))
          .hasSameSizeAs(cli.all(task, InputRequired.class))
          .allMatch(lapsed -> "the program no longer asks for it".equals(lapsed.reason()));
      assertThat(cli.read("heard")).isEmpty();
    }
  }

  @Test
  void a_question_that_is_taken_back_while_a_person_thinks_is_no_longer_open() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("waver touch it");
      var question = cli.question(task);
      Files.writeString(cli.home.resolve("go"), "");

      assertThat(cli.answer(task)).isEqualTo("never mind");
      assertThat(cli.all(task, InputLapsed.class))
          .extracting(InputLapsed::inputId)
          .containsExactly(question.inputId());
      assertThat(cli.read("heard")).isEmpty();
    }
  }

  @Test
  void what_codex_takes_back_is_no_longer_open() throws Exception {
    try (var cli = world(CliProgram.CODEX)) {
      var task = cli.say("regret it");

      assertThat(cli.answer(task)).startsWith("Hello, ");
      assertThat(cli.all(task, InputLapsed.class))
          .hasSameSizeAs(cli.all(task, InputRequired.class));
      assertThat(cli.read("done")).isEmpty();
    }
  }

  @Test
  void a_program_that_asks_on_and_on_and_does_not_listen_is_ended() throws Exception {
    try (var cli = world(CliProgram.CODEX)) {
      var task = cli.say("flood");

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.all(task, ErrorReported.class))
          .singleElement()
          .matches(e -> e.code() == ErrorCode.LIMIT && e.message().contains("does not read"));
    }
  }

  @Test
  void secrets_of_mcp_servers_are_no_words_of_a_command() throws Exception {
    var plain = settings(CliProgram.CODEX);
    var server =
        new McpServer(
            "own",
            new McpServer.StdioEndpoint(
                List.of("/bin/sh", "-c", "printf %s \"$TOKEN$1\"", "x", "!"),
                Map.of("TOKEN", "it's $ecret\n"),
                folder),
            null,
            null,
            McpServer.TIMEOUT);
    for (var permission : List.of(Permission.ALLOW, Permission.ASK)) {
      var settings =
          plain
              .withTaskOverrides(null, null, List.of(), List.of(), List.of(server), List.of())
              .with(new ToolPolicy(permission, List.of(), List.of(), List.of()));
      var programLaunch =
          new CodexAdapter(settings).launch(new ProgramRequest("do it", null), folder);

      assertThat(programLaunch.words()).noneMatch(word -> word.contains("ecret"));
      if (permission == Permission.ASK) {
        assertThat(programLaunch.input()).contains("it's $ecret\\n");
        continue;
      }
      try (var file = PrivateTempFile.of(programLaunch.config())) {
        var words = programLaunch.words(file);
        var started = new ArrayList<>(List.of(toml(words, "mcp_servers.own.command=").asString()));
        toml(words, "mcp_servers.own.args=").forEach(word -> started.add(word.asString()));
        var process = new ProcessBuilder(started).redirectErrorStream(true).start();
        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
            .isEqualTo("it's $ecret\n!");
      }
    }
  }

  private static JsonNode toml(List<String> words, String key) {
    var found = words.stream().filter(word -> word.startsWith(key)).collect(Collectors.joining());
    return Json.mapper().readTree(found.substring(key.length()));
  }
}
