package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskView;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
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

  private static final String CTRL_A = "\u0001";
  private static final String CTRL_C = "\u0003";
  private static final String CTRL_D = "\u0004";
  private static final String CTRL_K = "\u000b";
  private static final String CTRL_R = "\u0012";
  private static final String CTRL_U = "\u0015";
  private static final String ALT_ENTER = "\u001b\r";
  private static final String BACKSPACE = "\u007f";
  private static final String LEFT = "\u001bOD";
  private static final String UP = "\u001b[A";
  private static final String ESCAPE = "\u001b";

  private static final long PAUSE_NANOS = 20_000_000;

  @TempDir Path data;
  @TempDir Path state;

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

  @Test
  void a_line_can_be_edited_completed_and_have_several_lines() throws Exception {
    try (var server = RealProcess.serve(data);
        var terminal = open(server, "chat")) {
      terminal.await("> ");
      terminal.type("culate 2+4" + BACKSPACE + "3*5" + CTRL_A + "cal" + "\r");
      terminal.await("2+3*5 = 17");
      terminal.await("> ");
      terminal.type("calculate 9*90" + LEFT + LEFT + CTRL_K + "8\r");
      terminal.await("9*8 = 72");
      terminal.await("> ");
      terminal.type("say one\\\rtwo" + ALT_ENTER + "three\r");
      terminal.await("one\r\ntwo\r\nthree\r\n");
      terminal.await("> ");
      // A terminal brackets pasted text: its line breaks do not send the message.
      terminal.type(ESCAPE + "[200~say four\rfive" + ESCAPE + "[201~\r");
      terminal.await("four\r\nfive\r\n");
      terminal.await("> ");
      terminal.type("/a\t");
      terminal.await("lists the agents");
      assertThat(terminal.screen()).doesNotContainPattern(ESCAPE + "\\[(?:3[0-7]|9[0-7])m");
      terminal.type(CTRL_U + "/cos\t\r");
      terminal.await("TOKENS IN");
      terminal.await("> ");
      terminal.type("@agent-da\tcount to 4\r");
      terminal.await("1 2 3 4");
      terminal.await("> ");
      terminal.type("/quit\r");
      terminal.await("code=0");

      assertThat(terminal.screen()).doesNotContain("WARNING").doesNotContain("Exception");
      assertThat(lastAgent(server)).isEqualTo("agent-data");
    }
  }

  @Test
  void what_was_typed_is_there_after_a_restart_and_for_nobody_else() throws Exception {
    try (var server = RealProcess.serve(data)) {
      try (var terminal = open(server, "chat")) {
        terminal.await("> ");
        terminal.type("calculate 11*11\r");
        terminal.await("11*11 = 121");
        terminal.await("> ");
        terminal.type("count to 3\r");
        terminal.await("1 2 3");
        terminal.await("> ");
        terminal.type(CTRL_D);
        terminal.await("code=0");
      }
      try (var terminal = open(server, "chat --continue")) {
        terminal.await("> ");
        terminal.type(UP + BACKSPACE + "5\r");
        terminal.await("1 2 3 4 5");
        terminal.await("> ");
        terminal.type(CTRL_R + "11*" + "\r");
        terminal.await("11*11 = 121");
      }
      var history = state.resolve("parley").resolve("chat-history");
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(history)))
          .isEqualTo("rw-------");
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(history.getParent())))
          .isEqualTo("rwx------");
    }
  }

  @Test
  void an_answer_to_a_question_is_not_kept() throws Exception {
    try (var server = RealProcess.serve(data);
        var terminal = open(server, "chat")) {
      terminal.await("> ");
      terminal.type("ask me Who are you?\r");
      terminal.await("answer: ");
      terminal.type("s3cret\r");
      terminal.await("> ");
      // A message that begins with a space is not saved either.
      terminal.type(" count to 4\r");
      terminal.await("1 2 3 4");
      terminal.await("> ");
      // A secret is not even shown.
      terminal.type(" sign in to example\r");
      terminal.await("api-key: ");
      terminal.type("hidden-word\r");
      terminal.await("> ");
      terminal.type(UP + "\r");
      terminal.await("answer: ");
      terminal.type(CTRL_C);
      terminal.await("code=130");

      var history = Files.readString(state.resolve("parley").resolve("chat-history"));
      assertThat(history)
          .contains("ask me Who are you?")
          .doesNotContain("s3cret", "count to 4", "hidden-word");
      assertThat(terminal.screen()).doesNotContain("hidden-word");
    }
  }

  @Test
  void ctrl_c_cancels_the_task_that_runs_and_the_chat_goes_on() throws Exception {
    try (var server = RealProcess.serve(data);
        var terminal = open(server, "chat")) {
      terminal.await("> ");
      terminal.type("count slowly to 4000\r");
      terminal.await("1 2 3");
      terminal.type(CTRL_C);
      terminal.await("Canceling (press Ctrl-C again to exit at once) ...");
      terminal.await("The task was canceled");
      terminal.await("> ");
      // Ctrl-C discards the typed text.
      terminal.type("half a line" + CTRL_C);
      terminal.await("> ");
      terminal.type("count to 3\r");
      terminal.await("1 2 3");
      terminal.await("> ");
      terminal.type(CTRL_C);
      terminal.await("Press Ctrl-C again to exit.");
      terminal.await("> ");
      terminal.type(CTRL_C);
      terminal.await("code=130");

      assertThat(states(server)).contains(TaskState.CANCELED, TaskState.COMPLETED);
    }
  }

  @Test
  void colours_and_markdown_are_for_the_terminal_and_a_pipe_gets_the_plain_answer()
      throws Exception {
    try (var server = RealProcess.serve(data)) {
      try (var terminal = open(server, "chat 'say **bold**' | cat", Map.of())) {
        terminal.await("**bold**\r\n");
        terminal.await("code=0");
      }
      try (var terminal = open(server, "chat 'say **bold**' 2>&1 | cat", Map.of())) {
        terminal.await("code=0");
        assertThat(terminal.screen()).startsWith("**bold**\n").doesNotContain(ESCAPE);
      }
      try (var terminal = open(server, "chat 'say **bold**'", Map.of())) {
        terminal.await(ESCAPE + "[1mbold" + ESCAPE + "[0m\r\n");
        terminal.await("code=0");
      }
      try (var terminal = open(server, "chat --color=never 'say **bold**'", Map.of())) {
        terminal.await("**bold**\r\n");
        terminal.await("code=0");
        assertThat(terminal.screen()).doesNotContain(ESCAPE + "[1m").doesNotContain(ESCAPE + "[2m");
      }
    }
  }

  @Test
  void a_dumb_terminal_still_talks_line_by_line() throws Exception {
    try (var server = RealProcess.serve(data);
        var terminal = open(server, "chat", Map.of("TERM", "dumb"))) {
      terminal.await("> ");
      terminal.type("count to 3\n");
      terminal.await("1 2 3");
      terminal.await("> ");
      terminal.type(CTRL_D);
      terminal.await("code=0");
      assertThat(terminal.screen()).doesNotContain(ESCAPE);
    }
  }

  /// The same without colours.
  private PseudoTerminal open(RealProcess server, String arguments) throws Exception {
    return open(server, arguments, Map.of("NO_COLOR", "1"));
  }

  /// A shell that runs `parley`, prints its exit code, and then prints a line that it reads itself.
  private PseudoTerminal open(RealProcess server, String arguments, Map<String, String> environment)
      throws Exception {
    var parley =
        RealProcess.java(List.of()).stream()
            .map(word -> "'" + word + "'")
            .collect(Collectors.joining(" "));
    var shell =
        "stty cols 100 rows 40; trap : INT; %s %s; echo \"code=$?\"; read -r line; echo \"line=$line\""
            .formatted(parley, arguments);
    var all = new HashMap<>(environment);
    all.put("PARLEY_URL", server.url().toString());
    all.put("XDG_STATE_HOME", state.toString());
    return new PseudoTerminal(shell, all);
  }

  /// The agent of the latest task in the context that changed last.
  private static String lastAgent(RealProcess server) {
    try (var client = new ParleyClient(server.url())) {
      var context = client.contexts(null, 1).items().getFirst().contextId();
      return client.tasks(context, null, 100).items().getLast().agentId().value();
    }
  }

  /// Waits until all tasks of the only context have ended, and returns their final states.
  private static List<TaskState> states(RealProcess server) {
    try (var client = new ParleyClient(server.url())) {
      var context = client.contexts(null, 1).items().getFirst().contextId();
      while (true) {
        var states =
            client.tasks(context, null, 100).items().stream().map(TaskView::status).toList();
        if (states.stream().allMatch(TaskState::terminal)) {
          return states;
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }
}
