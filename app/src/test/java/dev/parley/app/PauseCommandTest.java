package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.PauseView;
import dev.parley.protocol.PauseView.PauseScope;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PauseCommandTest {

  @Test
  void the_table_shows_who_paused_what_and_why() {
    var since = Instant.parse("2026-11-15T10:30:00Z");
    var pauses =
        List.of(
            new PauseView("all", PauseScope.ALL, null, "ann", since, "maintenance", 12),
            new PauseView("agent:coder", PauseScope.AGENT, "coder", "bob", since, null, 0));
    var testTerminal = TestTerminal.piped(Map.of());
    var terminal = testTerminal.terminal();

    PauseCommand.table(pauses).print(terminal.out(), terminal.outStyle());

    assertThat(testTerminal.out().lines().map(line -> line.replaceAll("\\s+", " ").strip()))
        .satisfiesExactly(
            line -> assertThat(line).isEqualTo("PAUSED SINCE BY WAITING TASKS REASON"),
            line -> assertThat(line).startsWith("all ").endsWith(" ann 12 maintenance"),
            line -> assertThat(line).startsWith("agent:coder ").endsWith(" bob 0"));
  }

  @Test
  void a_target_is_needed_to_resume_and_only_one_is_allowed() {
    var none = TestTerminal.piped(Map.of());
    assertThat(CommandLineProgram.run(none.terminal(), "resume")).isEqualTo(CommandExit.USAGE);
    assertThat(none.err()).contains("Name what to resume");

    var two = TestTerminal.piped(Map.of());
    assertThat(CommandLineProgram.run(two.terminal(), "pause", "--all", "--agent", "x"))
        .isEqualTo(CommandExit.USAGE);
    assertThat(two.err()).contains("Give one of --all, --agent, --person and --tenant");
  }
}
