package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.parley.client.ParleyClient;
import dev.parley.client.TaskInfo;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `parley chat` on a real terminal.
@Timeout(180)
class ChatTerminalIT {

  private static final String CTRL_C = "\u0003";

  private static final long PAUSE_NANOS = 20_000_000;

  @TempDir Path data;

  @BeforeEach
  void there_is_a_terminal() throws Exception {
    assumeTrue(PseudoTerminal.available(), "script of util-linux is not installed");
  }

  @Test
  void ctrl_c_at_a_question_ends_the_program_and_the_next_line_goes_to_the_shell()
      throws Exception {
    try (var server = RealProcess.serve(data);
        var terminal = open(server, "chat \"run echo hello\"")) {
      terminal.await("[e]dit: ");
      assertThat(terminal.screen()).contains("call shell?", "{\"command\":\"echo hello\"}");

      terminal.type(CTRL_C);
      terminal.await("code=130");
      terminal.type("yes\n");
      terminal.await("line=yes");

      assertThat(terminal.screen()).contains("Canceling ...");
      assertThat(states(server)).containsOnly(TaskState.CANCELED);
    }
  }

  @Test
  void ctrl_c_at_a_question_also_ends_a_chat_line_by_line() throws Exception {
    try (var server = RealProcess.serve(data);
        var terminal = open(server, "chat")) {
      terminal.await("> ");
      terminal.type("run echo hello\n");
      terminal.await("[e]dit: ");

      terminal.type(CTRL_C);
      terminal.await("code=130");
      terminal.type("/quit\n");
      terminal.await("line=/quit");

      assertThat(states(server)).containsOnly(TaskState.CANCELED);
    }
  }

  @Test
  void ctrl_c_ends_the_program_though_the_server_is_gone() throws Exception {
    try (var server = RealProcess.serve(data);
        var terminal = open(server, "chat \"run echo hello\"")) {
      terminal.await("[e]dit: ");
      server.kill();

      terminal.type(CTRL_C);
      terminal.await("code=130");
    }
  }

  /// A shell that runs `parley`, prints its exit code, and then a line that it reads itself.
  private static PseudoTerminal open(RealProcess server, String arguments) throws Exception {
    var parley =
        RealProcess.java(List.of()).stream()
            .map(word -> "'" + word + "'")
            .collect(Collectors.joining(" "));
    var shell =
        "trap : INT; %s %s; echo \"code=$?\"; read -r line; echo \"line=$line\""
            .formatted(parley, arguments);
    return new PseudoTerminal(
        shell, Map.of("PARLEY_URL", server.url().toString(), "NO_COLOR", "1"));
  }

  /// How the tasks of the one context ended; waits until all have.
  private static List<TaskState> states(RealProcess server) {
    try (var client = new ParleyClient(server.url())) {
      var context = client.contexts(null, 1).items().getFirst().contextId();
      while (true) {
        var states =
            client.tasks(context, null, 100).items().stream().map(TaskInfo::status).toList();
        if (states.stream().allMatch(TaskState::terminal)) {
          return states;
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }
}
