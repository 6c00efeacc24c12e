package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.server.ParleyVersion;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CommandUsageTest {

  private final TestTerminal testTerminal =
      TestTerminal.piped(Map.of("PARLEY_URL", "http://127.0.0.1:1"));

  @Test
  void help_lists_the_commands_and_the_exit_codes() {
    assertThat(testTerminal.run("--help")).isZero();
    assertThat(testTerminal.out())
        .contains(
            "serve", "chat", "tail", "contexts", "tasks", "show", "cancel", "export", "doctor")
        .contains("inbox", "answer", "rewind", "fork", "artifacts", "agents")
        .contains("completion", "Examples:", "Exit codes:")
        .doesNotContain("warm-up");
  }

  @Test
  void help_is_a_command_too() {
    assertThat(testTerminal.run("help")).isZero();
    assertThat(testTerminal.out()).contains("Usage: parley", "Exit codes:");
    var own = TestTerminal.piped(Map.of());
    assertThat(own.run("help", "chat")).isZero();
    assertThat(own.out()).contains("Usage: parley chat");
  }

  @Test
  void a_limit_that_lists_nothing_is_wrong_usage() {
    for (var limit : List.of("0", "-3")) {
      var own = TestTerminal.piped(Map.of("PARLEY_URL", "http://127.0.0.1:1"));
      assertThat(own.run("contexts", "--limit", limit)).isEqualTo(2);
      assertThat(own.run("tasks", "c-1", "--limit", limit)).isEqualTo(2);
      assertThat(own.err())
          .isEqualTo(
              "--limit must be at least 1, not %1$s%n--limit must be at least 1, not %1$s%n"
                  .formatted(limit));
    }
  }

  @Test
  void a_port_beyond_the_range_is_wrong_usage() {
    for (var port : List.of("-1", "70000")) {
      var own = TestTerminal.piped(Map.of());
      var reason = "--port must be between 0 and 65535, not " + port;
      assertThat(own.run("doctor", "--port", port, "--data", "/no/such/folder")).isEqualTo(2);
      assertThat(own.out()).isEmpty();
      assertThat(own.err()).isEqualTo(reason + "\n");

      // Not through the command, which would handle the signals of this process.
      var options = new ServeOptions();
      options.port = Integer.valueOf(port);
      assertThatThrownBy(() -> LocalServer.start(options, Path.of("/no/such/folder"), Map.of()))
          .isInstanceOfSatisfying(
              CommandExit.class, exit -> assertThat(exit.code()).isEqualTo(CommandExit.USAGE))
          .hasMessage(reason);
    }
  }

  @Test
  void what_serve_says_of_its_end_is_what_it_does() {
    assertThat(testTerminal.run("serve", "--help")).isZero();
    assertThat(testTerminal.out())
        .contains("continues after the next start")
        .doesNotContain("interrupted");
  }

  @Test
  void colours_are_auto_always_or_never() {
    assertThat(testTerminal.run("--color", "always", "--help")).isZero();
    assertThat(testTerminal.out()).contains("\u001b[");
    var own = TestTerminal.piped(Map.of());
    assertThat(own.run("contexts", "--color=blue")).isEqualTo(2);
    assertThat(own.err()).contains("--color");
  }

  @Test
  void our_own_texts_spell_canceled_in_one_way() {
    for (var command :
        CommandLineProgram.commandLine(testTerminal.terminal()).getSubcommands().values()) {
      assertThat(command.getUsageMessage()).doesNotContainIgnoringCase("cancelled");
    }
    assertThat(CommandLineProgram.commandLine(testTerminal.terminal()).getUsageMessage())
        .contains("130 canceled");
  }

  @Test
  void each_command_has_help() {
    for (var command :
        CommandLineProgram.commandLine(testTerminal.terminal()).getSubcommands().keySet()) {
      if (!command.equals("warm-up")) {
        var own = TestTerminal.piped(Map.of());
        assertThat(own.run(command, "--help")).as(command).isZero();
        assertThat(own.out()).as(command).contains("Usage: parley " + command);
        assertThat(own.out()).as(command).doesNotContainPattern("(?m)http\\S*[:/]$");
      }
    }
  }

  @Test
  void an_unknown_command_gets_a_suggestion() {
    assertThat(testTerminal.run("chta", "hi")).isEqualTo(2);
    assertThat(testTerminal.err()).startsWith("Unknown: chta. Did you mean chat?\n");
  }

  @Test
  void an_unknown_option_gets_a_suggestion() {
    assertThat(testTerminal.run("tail", "c-1", "--afte", "3")).isEqualTo(2);
    assertThat(testTerminal.err()).contains("--after").contains("Try: parley tail --help");
  }

  @Test
  void a_missing_argument_is_named() {
    assertThat(testTerminal.run("tail")).isEqualTo(2);
    assertThat(testTerminal.err()).contains("CONTEXT");
  }

  @Test
  void options_before_the_command_are_not_ignored_in_silence() {
    assertThat(testTerminal.run("--data", "folder", "contexts")).isEqualTo(2);
    assertThat(testTerminal.err()).contains("Put --data after the command: parley contexts ...");
  }

  @Test
  void an_option_of_serve_before_another_command_is_rejected() {
    assertThat(testTerminal.run("--port", "0", "contexts")).isEqualTo(2);
    assertThat(testTerminal.err()).contains("parley contexts has no --port");
  }

  @Test
  void an_unknown_kind_is_wrong_usage() {
    assertThat(testTerminal.run("tail", "c-1", "--kinds", "mesage")).isEqualTo(2);
    assertThat(testTerminal.err()).contains("mesage");
  }

  @Test
  void without_a_server_it_says_how_to_start_one() {
    assertThat(testTerminal.run("contexts")).isEqualTo(3);
    assertThat(testTerminal.err())
        .isEqualTo(
            "No Parley server at http://127.0.0.1:1. Start one with: ./parley. To use another"
                + " server, pass --data or --url, or set PARLEY_DATA or PARLEY_URL\n");
  }

  @Test
  void an_address_that_is_none_is_wrong_usage() {
    assertThat(testTerminal.run("contexts", "--url", "gopher://x")).isEqualTo(2);
    assertThat(testTerminal.err()).contains("http://127.0.0.1:7070");
  }

  @Test
  void nothing_to_say_is_wrong_usage() {
    assertThat(testTerminal.run("chat")).isEqualTo(2);
    assertThat(testTerminal.err()).contains("The message is empty");
  }

  @Test
  void a_stack_trace_is_only_for_those_who_ask() {
    testTerminal.run("contexts");
    assertThat(testTerminal.err()).doesNotContain("\tat ");
    testTerminal.run("contexts", "--verbose");
    assertThat(testTerminal.err()).contains("\tat ");
  }

  @Test
  void completion_is_a_script_for_the_shell() {
    assertThat(testTerminal.run("completion")).isZero();
    assertThat(testTerminal.out())
        .contains("complete -F")
        .contains("--when-busy")
        .doesNotContain("warm-up");
  }

  @Test
  void a_rewind_needs_one_place_to_go_to() {
    assertThat(testTerminal.run("rewind", "c-1")).isEqualTo(2);
    assertThat(testTerminal.run("rewind", "c-1", "--to", "3", "--before", "t")).isEqualTo(2);
    assertThat(testTerminal.err()).contains("--before").contains("--to");
  }

  @Test
  void the_version_is_told() {
    assertThat(testTerminal.run("--version")).isZero();
    assertThat(testTerminal.out()).startsWith("parley " + ParleyVersion.text());
  }
}
