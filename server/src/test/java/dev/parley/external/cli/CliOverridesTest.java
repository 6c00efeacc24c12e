package dev.parley.external.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agent.ToolPolicy;
import dev.parley.mcp.McpServer;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.Submission;
import dev.parley.task.TaskTestBed;
import dev.parley.task.WhenBusy;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.ObjectNode;

/// Tests the settings that tasks override for a command-line agent.
@Timeout(60)
class CliOverridesTest {

  @TempDir Path folder;

  private static TaskId say(CliTestBed cli, String text, ObjectNode metadata) {
    var taskOptions =
        new Submission.TaskOptions(null, null, null, null, null, null, null, List.of(), metadata);
    return cli.world.tasks().submit(TaskTestBed.submission(text, taskOptions)).taskId();
  }

  private static ObjectNode wishes(String json) {
    var metadata = Json.object();
    metadata.set("cli", Json.mapper().readTree(json));
    return metadata;
  }

  @Test
  void a_task_may_choose_its_model_and_narrow_the_tools() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task =
          say(
              cli,
              "say hello",
              wishes(
                  "{\"model\":\"opus\",\"disallowedTools\":[\"WebFetch\"],\"allowedTools\":[\"Bash\"],\"instructions\":\"Be"
                      + " brief.\"}"));

      assertThat(cli.answer(task)).isEqualTo("hello");
      assertThat(cli.read("starts"))
          .contains(
              "--model opus", "--disallowedTools WebFetch", "--append-system-prompt Be brief.")
          .doesNotContain("--allowedTools");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "none",
      value = {
        "none | [\"Read\"] | --allowedTools Read",
        "none | [\"Bash(git log:*)\"] | --allowedTools Bash(git log:*)",
        "Bash(rm *) | [\"Read\"] | stdio",
        "Bash(rm *) | [\"Edit\",\"Read\"] | stdio"
      })
  void a_task_that_names_its_tools_is_asked_about_others_even_if_its_agent_may_do_anything(
      String denied, String tools, String lastWords) throws Exception {
    var deny = denied == null ? List.<String>of() : List.of(denied);
    var toolPolicy = new ToolPolicy(Permission.ALLOW, List.of(), List.of(), deny);
    try (var cli = CliTestBed.scripted(folder, toolPolicy)) {
      var task = say(cli, "ask touch it", wishes("{\"allowedTools\":" + tools + "}"));

      var question = cli.question(task);
      assertThat(cli.read("done")).isEmpty();
      cli.answer(question, BooleanNode.FALSE);
      assertThat(cli.answer(task)).isEqualTo("done");
      assertThat(cli.read("done")).isEmpty();
      assertThat(cli.read("starts")).endsWith(lastWords);
    }
  }

  @Test
  void a_task_is_not_asked_about_the_tools_that_it_names_if_its_agent_may_do_anything()
      throws Exception {
    var toolPolicy = new ToolPolicy(Permission.ALLOW, List.of(), List.of(), List.of("Write"));
    try (var cli = CliTestBed.scripted(folder, toolPolicy)) {
      var task = say(cli, "ask touch it", wishes("{\"allowedTools\":[\"Bash\"]}"));

      assertThat(cli.answer(task)).isEqualTo("done");
      assertThat(cli.read("done")).isEqualTo("touch it");
      assertThat(cli.all(task, InputRequired.class)).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Bash | Read | ASK",
        "Bash | Bash | ALLOW",
        "Bash(touch *) | Bash | ALLOW",
        "Bash(ls *) | Bash | ASK",
        "Bash(touch *) | Bash(touch *) | ALLOW",
        "B* | Bash(ls *) | ASK",
        "* | Bash | ALLOW",
        "* | Read | ASK"
      })
  void rules_that_allow_are_narrowed_to_the_tools_of_a_task(
      String rule, String tool, Permission expected) {
    var toolPolicy = new ToolPolicy(null, List.of(rule), List.of(), List.of());

    var permission =
        toolPolicy
            .narrowedTo(List.of(tool))
            .permissionFor(
                "Bash", Json.object().put("command", "touch it"), "touch it", Permission.ASK);
    assertThat(permission).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"allowedTools\":[\"--yolo\"]} | no name may begin with -",
        "{\"customArgs\":[\"--dangerously-skip-permissions\"]} | permission: allow",
        "{\"model\":\"--dangerously-skip-permissions\"} | cli.model",
        "{\"disallowedTools\":[\"--yolo\"]} | no name may begin with -",
        "{\"mcp\":[\"other\"]} | no MCP server",
        "{\"mcp\":{\"servers\":[{\"name\":\"own\",\"command\":\"sh\"}]}} | MCP servers of its own",
        "{\"mcp\":[{\"name\":\"own\",\"url\":\"http://127.0.0.1:1/\"}]} | MCP servers of its own"
      })
  void a_task_cannot_widen_what_its_agent_may_do(String json, String problem) throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = say(cli, "say hello", wishes(json));

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.all(task, ErrorReported.class).getLast().message()).contains(problem);
      assertThat(cli.read("starts")).isEmpty();
    }
  }

  @Test
  void words_of_its_own_are_for_agents_that_may_do_anything() throws Exception {
    var toolPolicy = new ToolPolicy(Permission.ALLOW, List.of(), List.of(), List.of());
    try (var cli = CliTestBed.scripted(folder, toolPolicy)) {
      var task = say(cli, "say hello", wishes("{\"customArgs\":[\"--effort\",\"low\"]}"));

      assertThat(cli.answer(task)).isEqualTo("hello");
      assertThat(cli.read("starts")).endsWith("--effort low");
    }
  }

  // AGENT-52
  @Test
  void own_servers_need_an_agent_that_may_do_anything() throws Exception {
    var toolPolicy = new ToolPolicy(Permission.ALLOW, List.of(), List.of(), List.of());
    try (var cli = CliTestBed.scripted(folder, toolPolicy)) {
      var own = "{\"mcp\":{\"servers\":[{\"name\":\"own\",\"command\":[\"own-server\",\"-x\"]}]}}";
      assertThat(cli.answer(say(cli, "say hello", wishes(own)))).isEqualTo("hello");
      assertThat(cli.read("mcp")).contains("own-server", "-x");

      for (var wrong :
          List.of(
              "{\"mcp\":[{\"name\":\"a b\",\"command\":[\"x\"]}]}",
              "{\"mcp\":[{\"name\":\"own\",\"command\":[]}]}",
              "{\"mcp\":[{\"name\":\"own\",\"url\":\"file:///etc/passwd\"}]}",
              "{\"mcp\":[{\"name\":\"own\",\"command\":[\"x\"],\"env\":{\"T\":\"hush\"}}]}")) {
        var task = say(cli, "say hello", wishes(wrong));
        assertThat(cli.world.awaitEnd(task)).as(wrong).isEqualTo(TaskState.FAILED);
      }
    }
  }

  // AGENT-52
  @Test
  void instructions_of_a_task_are_sent_also_when_a_session_is_resumed() throws Exception {
    var script = Path.of(CliTestBed.class.getResource("/cli/codex.sh").toURI());
    var settings =
        CliSettings.of(
            CliProgram.CODEX,
            List.of("/bin/sh", script.toString()),
            CliTestBed.scripted(folder).environment());
    try (var cli = new CliTestBed(TaskTestBed.newLog(), folder, settings)) {
      cli.ask("PLAIN one");
      cli.answer(say(cli, "PLAIN two", wishes("{\"instructions\":\"Be brief.\"}")));

      try (var sessions = Files.list(cli.home.resolve("sessions"))) {
        assertThat(sessions.toList())
            .singleElement()
            .satisfies(file -> assertThat(file).content().contains("Be brief.", "PLAIN two"));
      }
    }
  }

  @Test
  void words_of_its_own_are_refused_where_rules_say_what_is_denied() throws Exception {
    var toolPolicy = new ToolPolicy(Permission.ALLOW, List.of(), List.of(), List.of("Bash(rm *)"));
    try (var cli = CliTestBed.scripted(folder, toolPolicy)) {
      var task = say(cli, "say hello", wishes("{\"customArgs\":[\"--effort\",\"low\"]}"));

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.read("starts")).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "CODEX | {\"disallowedTools\":[\"shell\"]}",
        "GEMINI | {\"disallowedTools\":[\"shell\"]}",
        "JSONL | {\"model\":\"small\"}",
        "CODEX | {\"allowedTools\":[\"shell\"]}"
      })
  void what_a_program_would_not_heed_is_refused(CliProgram cliProgram, String json)
      throws Exception {
    var usual = CliTestBed.scripted(folder);
    var settings = CliSettings.of(cliProgram, usual.command(), usual.environment());
    try (var cli = new CliTestBed(TaskTestBed.newLog(), folder, settings)) {
      var task = say(cli, "say hello", wishes(json));

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.all(task, ErrorReported.class).getLast().message()).contains("remove it");
      assertThat(cli.read("starts")).isEmpty();
    }
  }

  @Test
  void secrets_of_mcp_servers_are_in_a_file_that_is_gone_afterwards() throws Exception {
    var server =
        new McpServer(
            "own",
            new McpServer.StdioEndpoint(List.of("own-server"), Map.of("TOKEN", "hush"), folder),
            null,
            null,
            McpServer.TIMEOUT);
    var settings =
        CliTestBed.scripted(folder)
            .withTaskOverrides(null, null, List.of(), List.of(), List.of(server), List.of());
    try (var cli = new CliTestBed(TaskTestBed.newLog(), folder, settings)) {
      assertThat(cli.ask("say hello")).isEqualTo("hello");

      assertThat(cli.read("mcp")).startsWith("-rw-------").contains("hush");
      assertThat(cli.read("starts")).contains("--mcp-config").doesNotContain("hush");
      assertThat(Path.of(cli.read("mcp-path"))).doesNotExist();
    }
  }

  @Test
  void every_line_is_kept_where_a_task_wants_that() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = say(cli, "say hello", Json.object().put("raw", "all"));

      cli.answer(task);
      assertThat(cli.all(task, InternalRaw.class))
          .extracting(InternalRaw::line)
          .hasSize(7)
          .anyMatch(line -> line.contains("text_delta"));
    }
  }

  @Test
  void what_is_said_to_a_task_while_it_works_is_its_next_turn() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("ask touch it");
      cli.question(task);
      // A message in place of an answer is not an approval.
      cli.world.submit("say and this", WhenBusy.STEER);

      assertThat(cli.answer(task)).isEqualTo("and this");
      assertThat(cli.read("starts").lines()).hasSize(2).last().asString().contains("--resume");
      assertThat(cli.read("done")).isEmpty();
    }
  }

  @Test
  void any_program_is_told_the_past_and_goes_on_with_its_session() throws Exception {
    var script =
        "read -r line; echo \"{\\\"kind\\\":\\\"token\\\",\\\"t\\\":\\\"$* $line\\\"}\";"
            + " echo '{\"type\":\"session\",\"kind\":\"session\",\"session_id\":\"s1\"}';"
            + " echo '{\"kind\":\"result\"}'";
    var usual = CliTestBed.scripted(folder);
    var settings =
        new CliSettings(
            CliProgram.JSONL,
            List.of("/bin/sh", "-c", script, "own"),
            List.of("arg"),
            null,
            null,
            List.of(),
            List.of(),
            List.of(),
            null,
            usual.environment(),
            new LineMapping(
                "$.kind",
                Map.of(LineMapping.LineType.TEXT, List.of("token")),
                Map.of(LineMapping.LineField.TEXT, "$.t")),
            List.of("--session", "{session}"),
            usual.silence(),
            usual.policy());
    try (var cli = new CliTestBed(TaskTestBed.newLog(), folder, settings)) {
      var task = cli.say("first");
      assertThat(cli.answer(task)).isEqualTo("arg first");
      assertThat(cli.all(task, ContentDelta.class)).hasSize(1);
      assertThat(cli.ask("second")).isEqualTo("arg --session s1 second");
    }
  }
}
