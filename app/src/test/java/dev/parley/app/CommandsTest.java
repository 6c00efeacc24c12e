package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.EventJson;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class CommandsTest {

  private static final String LINES =
      TextRenderingTest.TALK.stream()
          .map(EventJson::text)
          .collect(Collectors.joining("\n", "", "\n"));

  private final FakeServer server = new FakeServer(TextRenderingTest.TALK);
  private final TestTerminal testTerminal =
      TestTerminal.piped(server.environment(), "from a pipe\n");

  @TempDir Path folder;

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void chat_makes_a_context_sends_and_prints_the_answer() {
    assertThat(
            testTerminal.run(
                "chat", "--agent", "agent-code", "--when-busy", "reject", "hi", "there"))
        .isZero();
    assertThat(testTerminal.out()).endsWith("lo\nthere\n");
    assertThat(testTerminal.err()).isEmpty();
    assertThat(server.requests())
        .contains("POST /api/contexts {}")
        .contains(
            "POST /api/contexts/c-1/messages {\"content\":\"hi there\",\"agentId\":\"agent-code\","
                + "\"whenBusy\":\"reject\"}");
  }

  @Test
  void chat_reads_what_is_piped_in_and_goes_on_with_a_context() {
    assertThat(testTerminal.run("chat", "--context", "c-1")).isZero();
    assertThat(server.requests())
        .contains("POST /api/contexts/c-1/messages {\"content\":\"from a pipe\"}")
        .doesNotContain("POST /api/contexts {}");
  }

  @Test
  void chat_as_json_prints_every_event_of_the_task() {
    assertThat(testTerminal.run("chat", "--json", "-")).isZero();
    assertThat(testTerminal.out()).isEqualTo(LINES);
  }

  @Test
  void chat_tells_failure_and_cancellation_apart() {
    for (var end : Map.of(TaskState.FAILED, 1, TaskState.CANCELED, 130).entrySet()) {
      try (var other = new FakeServer(TestEntries.of(new TaskStatus(end.getKey(), "why", null)))) {
        var own = TestTerminal.piped(other.environment());
        assertThat(own.run("chat", "hi")).isEqualTo(end.getValue());
        assertThat(own.err()).contains("The task");
      }
    }
  }

  @Test
  void chat_on_a_terminal_talks_line_by_line() {
    var terminal =
        TestTerminal.terminal(
            server.environment(), "/help\nhi\n/nonsense\n/new\nagain\n/quit\nnever\n");

    assertThat(terminal.run("chat")).isZero();
    assertThat(terminal.out())
        .contains("/new ", "starts a new context")
        .contains("done after")
        .contains("context c-1")
        .contains("Unknown: /nonsense");
    assertThat(server.requests().stream().filter(r -> r.contains("/messages"))).hasSize(2);
    assertThat(server.requests().stream().filter("POST /api/contexts {}"::equals)).hasSize(2);
  }

  @Test
  void tail_prints_a_line_per_event_until_the_context_is_gone() {
    assertThat(testTerminal.run("tail", "c-1", "--after", "11", "--json")).isEqualTo(1);
    assertThat(testTerminal.out().lines()).hasSize(3);
    assertThat(testTerminal.err()).contains("deleted");
  }

  @Test
  void tail_without_following_ends_at_the_end() {
    assertThat(testTerminal.run("tail", "c-1", "--no-follow", "--json")).isZero();
    assertThat(testTerminal.out()).isEqualTo(LINES);
  }

  @Test
  void contexts_and_tasks_are_tables_or_json() {
    assertThat(testTerminal.run("contexts")).isZero();
    assertThat(testTerminal.run("contexts", "--json")).isZero();
    assertThat(testTerminal.run("tasks", "c-1")).isZero();
    assertThat(testTerminal.out())
        .contains("CONTEXT  UPDATED")
        .contains(FakeServer.CONTEXT)
        .contains("task-0001  completed  agent-code")
        .contains("1.5 s");
  }

  @Test
  void show_has_the_conversation_tasks_artifacts_and_usage() {
    assertThat(testTerminal.run("show", "c-1")).isZero();
    assertThat(testTerminal.out())
        .contains("A talk", "user\nhi[2J\n", "assistant agent-code\nHello\n")
        .contains("report.md", "2.0 KB", "offline")
        .doesNotContain("\u001b");
  }

  @Test
  void cancel_finds_the_context_of_a_task() {
    server.taskStatus("working");
    assertThat(testTerminal.run("cancel", "task-0001")).isZero();
    assertThat(testTerminal.out()).isEqualTo("Cancellation requested: task-0001\n");
    assertThat(server.requests()).contains("POST /api/contexts/c-1/tasks/task-0001/cancel {}");
  }

  @Test
  void cancel_says_that_a_task_had_already_ended() {
    assertThat(testTerminal.run("cancel", "task-0001", "--context", "c-1")).isZero();
    assertThat(testTerminal.out()).contains("already ended: completed");
  }

  @Test
  void what_is_not_there_is_a_failure_with_one_line() {
    assertThat(testTerminal.run("show", "c-2")).isEqualTo(1);
    assertThat(testTerminal.err()).isEqualTo("no such thing (not-found)\n");
  }

  @Test
  void export_writes_every_event_once() throws Exception {
    assertThat(testTerminal.run("export", "c-1", "--format", "jsonl")).isZero();
    assertThat(
            testTerminal
                .out()
                .lines()
                .map(line -> EventJson.entry(line.getBytes(StandardCharsets.UTF_8))))
        .containsExactlyElementsOf(TextRenderingTest.TALK);

    var file = folder.resolve("talk.json");
    assertThat(testTerminal.run("export", "c-1", "--output", file.toString())).isZero();
    assertThat(Files.readString(file))
        .startsWith("{\"context\":" + FakeServer.CONTEXT + ",\"events\":[\n")
        .endsWith("\n]}\n")
        .hasLineCount(TextRenderingTest.TALK.size() + 2);
    assertThat(folder).isDirectoryNotContaining("glob:**.part");
  }

  @Test
  void export_as_markdown_is_a_transcript() {
    assertThat(testTerminal.run("export", "c-1", "--format", "md")).isZero();
    assertThat(testTerminal.out())
        .isEqualTo(
            """
            # A talk

            Context `c-1`, 2026-11-15T10:30:00.000Z

            ## user

            hi[2J

            ## assistant (agent-code)

            Hello

            ## Artifacts

            - report.md (file, version 1, 2.0 KB, `a-1`)
            """);
  }

  @Test
  void doctor_looks_for_the_programs_of_agents_and_says_their_version() throws IOException {
    var program = folder.resolve("claude");
    Files.writeString(program, "#!/bin/sh\necho 2.1.197 \"(Claude Code)\"\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    var config = folder.resolve("parley.yaml");
    var agent = "{id: coder, type: cli, cli: claude, command: [%s]}";
    Files.writeString(config, "agents: [" + agent.formatted(program) + "]\n");
    ServerFile.write(folder, url(), null, Instant.now());
    var asked = new String[] {"doctor", "--data", folder.toString(), "--config", config.toString()};
    assertThat(testTerminal.run(asked)).isZero();
    assertThat(testTerminal.out()).contains("coder", program + ", 2.1.197 (Claude Code)");

    Files.writeString(config, "agents: [" + agent.formatted("no-such-program") + "]\n");
    assertThat(testTerminal.run(asked)).isEqualTo(1);
    assertThat(testTerminal.out()).contains("there is no program no-such-program");
  }

  @Test
  void doctor_finds_what_a_start_would_not() throws IOException {
    ServerFile.write(folder, url(), null, Instant.now());
    var config = folder.resolve("parley.yaml");
    var asked = new String[] {"doctor", "--data", folder.toString(), "--config", config.toString()};

    Files.writeString(config, "mcpServers: {e: {command: [no-such-program]}}");
    assertThat(testTerminal.run(asked)).isEqualTo(1);
    assertThat(testTerminal.out())
        .contains("fail  MCP e", "there is no program no-such-program", "1 problem found")
        .doesNotContain("No problems");
    assertThat(testTerminal.err())
        .contains("Checking MCP e (no-such-program), for at most 20 s ...");

    Files.writeString(
        config, "models: {m: {provider: openai, apiKey: k, baseUrl: 'http://127.0.0.1:1'}}");
    assertThat(testTerminal.run(asked)).isEqualTo(1);
    assertThat(testTerminal.out()).contains("fail  model m", "cannot reach 127.0.0.1:1");

    var offline = Stream.concat(Stream.of(asked), Stream.of("--offline")).toArray(String[]::new);
    assertThat(testTerminal.run(offline)).isZero();
    assertThat(testTerminal.out()).contains("skip  model m", "1 check skipped");
  }

  @Test
  void doctor_shows_every_error_of_a_configuration() throws IOException {
    var config = folder.resolve("parley.yaml");
    Files.writeString(config, "limits: {maxTurns: 1, maxTurns: 2}\nallowedOrigin: []\n");

    assertThat(
            testTerminal.run("doctor", "--data", folder.toString(), "--config", config.toString()))
        .isEqualTo(1);
    assertThat(testTerminal.out())
        .contains(config + ":1:23: limits.maxTurns", config + ":2:1: allowedOrigin: unknown key")
        .contains("Did you mean allowedOrigins?")
        .contains("2 problems found");
  }

  @Test
  void doctor_finds_files_that_a_server_cannot_open() throws IOException {
    ServerFile.write(folder, url(), null, Instant.now());
    Files.writeString(folder.resolve("log.db"), "This is a text and no database.\n".repeat(500));
    Files.writeString(folder.resolve("vault.key"), "not a key\n");

    assertThat(testTerminal.run("doctor", "--data", folder.toString(), "--offline")).isEqualTo(1);
    assertThat(testTerminal.out())
        .contains("fail  log.db", "file is not a database", "fail  vault", "2 problems found");
  }

  @Test
  void doctor_checks_the_configuration_of_the_running_server() throws IOException {
    var config = folder.resolve("parley.yaml");
    Files.writeString(config, "mcpServers: {e: {command: [no-such-program]}}");
    ServerFile.write(folder, url(), config, Instant.now());

    assertThat(testTerminal.run("doctor", "--data", folder.toString())).isEqualTo(1);
    assertThat(testTerminal.out())
        .contains(
            "ok    configuration  " + config + " of the running server has no errors",
            "fail  MCP e",
            "there is no program no-such-program");
  }

  @Test
  void doctor_says_that_the_running_server_has_no_configuration() throws IOException {
    ServerFile.write(folder, url(), null, Instant.now());

    assertThat(testTerminal.run("doctor", "--data", folder.toString())).isZero();
    assertThat(testTerminal.out())
        .contains("ok    configuration  none; the running server uses the defaults");
  }

  @Test
  void doctor_says_that_it_does_not_know_the_configuration() throws IOException {
    ServerFile.write(folder, url(), null, Instant.now());
    var file = folder.resolve("server.json");
    Files.writeString(file, Files.readString(file).replaceFirst(",\"config\":\"\"", ""));

    assertThat(testTerminal.run("doctor", "--data", folder.toString())).isZero();
    assertThat(testTerminal.out())
        .contains("warn  configuration  not known: the running server does not report", "--config");
  }

  @Test
  void doctor_does_not_know_the_configuration_of_a_server_elsewhere() {
    assertThat(testTerminal.run("doctor", "--data", folder.toString(), "--url", url().toString()))
        .isZero();
    assertThat(testTerminal.out())
        .contains(
            "warn  configuration  that of the server at %s is not known: pass its file"
                .formatted(url()));
  }

  @Test
  void doctor_looks_at_everything() throws IOException {
    ServerFile.write(folder, url(), null, Instant.now());
    assertThat(testTerminal.run("doctor", "--data", folder.toString())).isZero();
    assertThat(testTerminal.out()).contains("Java", "SQLite", "fsync", "data folder", "is healthy");
  }

  @Test
  void a_backup_is_not_written_into_the_data_folder() throws Exception {
    var data = dataFolder();
    var link = Files.createSymbolicLink(folder.resolve("link"), data);

    for (var target : List.of(data.resolve("inside"), data.resolve("a/b"), link.resolve("c"))) {
      var own = TestTerminal.piped(Map.of());
      assertThat(own.run("backup", target.toString(), "--data", data.toString())).isEqualTo(1);
      assertThat(own.err()).contains(target + " is inside the data folder " + data);
    }
    try (var files = Files.list(data)) {
      assertThat(files).containsExactly(data.resolve("log.db"));
    }
  }

  @Test
  void restore_prints_its_folder_and_rejects_one_that_is_not_empty() throws Exception {
    var backup = folder.resolve("backup").toString();
    var own = TestTerminal.piped(Map.of("HOME", folder.toString()));
    assertThat(own.run("backup", backup, "--data", dataFolder().toString())).isZero();

    assertThat(own.run("restore", backup)).isZero();
    assertThat(own.out())
        .contains("Restored " + backup + " to " + folder.resolve(".parley") + ", ");
    assertThat(own.run("restore", backup)).isEqualTo(1);
    assertThat(own.err()).contains(folder.resolve(".parley") + " is not empty");
    assertThat(own.run("restore", backup, "--data", backup + "/inside")).isEqualTo(1);
    assertThat(own.err()).contains("is inside the backup");
  }

  /// A folder with an empty log.
  private Path dataFolder() throws Exception {
    var data = Files.createDirectory(folder.resolve("data"));
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + data.resolve("log.db"));
        var statement = connection.createStatement()) {
      statement.execute("CREATE TABLE contexts (number INTEGER PRIMARY KEY)");
    }
    return data;
  }

  @Test
  void a_server_is_found_by_the_file_it_left_in_its_data_folder() throws Exception {
    ServerFile.write(folder, url(), null, Instant.now());
    var own = TestTerminal.piped(Map.of("PARLEY_DATA", folder.toString()));

    assertThat(own.run("contexts")).isZero();
    ServerFile.remove(folder);
    assertThat(folder).isEmptyDirectory();
  }

  /// Every command that needs a server, with its required arguments.
  static Stream<List<String>> commands() {
    return Stream.of(
        List.of("chat", "hi"),
        List.of("tail", "c-1"),
        List.of("contexts"),
        List.of("tasks", "c-1"),
        List.of("show", "c-1"),
        List.of("artifacts", "c-1"),
        List.of("agents"),
        List.of("cancel", "task-0001"),
        List.of("inbox"),
        List.of("answer", "c-1"),
        List.of("rewind", "c-1", "--to", "1"),
        List.of("fork", "c-1"),
        List.of("export", "c-1"),
        List.of("cluster"),
        List.of("encryption"),
        List.of("audit"),
        List.of("rules"),
        List.of("budgets"),
        List.of("keys"),
        List.of("people"),
        List.of("invite"),
        List.of("pause"),
        List.of("resume", "--all"));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void a_data_folder_that_is_named_means_its_server_and_no_other(List<String> command) {
    var named = TestTerminal.piped(Map.of("PARLEY_DATA", folder.toString()));
    assertThat(named.run(command.toArray(String[]::new))).isEqualTo(3);
    assertThat(named.err())
        .isEqualTo(
            "No Parley server runs on the data folder %1$s (PARLEY_DATA). Start one with: ./parley serve --data %1$s%n"
                .formatted(folder));

    var other = new ArrayList<>(command);
    other.addAll(List.of("--data", folder.toString()));
    // An option takes precedence over the server address in the environment.
    assertThat(testTerminal.run(other.toArray(String[]::new))).isEqualTo(3);
    assertThat(testTerminal.err()).contains("No Parley server runs on the data folder", "(--data)");
    assertThat(server.requests()).isEmpty();

    other.addAll(List.of("--url", url().toString()));
    testTerminal.run(other.toArray(String[]::new));
    assertThat(server.requests()).isNotEmpty();
  }

  @Test
  void every_command_that_talks_to_a_server_was_tried() {
    var tried = commands().map(List::getFirst).toList();
    assertThat(
            CommandLineProgram.commandLine(testTerminal.terminal())
                .getSubcommands()
                .entrySet()
                .stream()
                .filter(command -> !Set.of("doctor", "mcp").contains(command.getKey()))
                .filter(command -> command.getValue().getCommandSpec().findOption("--url") != null)
                .map(Map.Entry::getKey))
        .containsExactlyInAnyOrderElementsOf(tried);
  }

  @Test
  void doctor_says_that_no_server_runs_on_the_folder() {
    assertThat(testTerminal.run("doctor", "--data", folder.toString())).isBetween(0, 1);
    assertThat(testTerminal.out()).contains("No Parley server runs on the data folder " + folder);
    assertThat(server.requests()).isEmpty();
  }

  @Test
  void a_copy_of_a_data_folder_does_not_lead_to_the_server_of_the_original() throws Exception {
    ServerFile.write(folder, url(), null, Instant.now());
    var copy = Files.createDirectory(folder.resolve("copy"));
    Files.copy(folder.resolve("server.json"), copy.resolve("server.json"));

    assertThat(TestTerminal.piped(Map.of()).run("contexts", "--data", folder.toString())).isZero();
    assertThat(TestTerminal.piped(Map.of()).run("contexts", "--data", copy.toString()))
        .isEqualTo(3);
  }

  private URI url() {
    return URI.create(server.environment().get("PARLEY_URL"));
  }

  @Test
  void a_file_that_a_dead_server_left_is_not_believed() throws Exception {
    ServerFile.write(
        folder, URI.create("http://127.0.0.1:1"), null, Instant.parse("2001-01-01T00:00:00Z"));

    assertThat(ServerFile.read(folder)).isEmpty();
  }
}
