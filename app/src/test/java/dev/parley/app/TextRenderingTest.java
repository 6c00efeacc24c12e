package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.app.Terminal.ColorMode;
import dev.parley.app.Terminal.TextStyle;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtId;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class TextRenderingTest {

  private static final BlockId BLOCK = new BlockId("b-1");

  static final List<Entry> TALK =
      TestEntries.of(
          new TaskCreated(Initiator.USER, null, null, "hi", null, null, null, null),
          new TaskStatus(TaskState.WORKING, null, null),
          new ThoughtStream(
              new ThoughtId("th-1"),
              ThoughtType.PLANNING,
              Verbosity.NORMAL,
              "Let me look.",
              0,
              null,
              null),
          new ThoughtStream(
              new ThoughtId("th-2"),
              ThoughtType.DECISION,
              Verbosity.BRIEF,
              "There.",
              1,
              null,
              null),
          new ToolStart(
              new ToolCallId("call-1"),
              "read_file",
              Json.object().put("path", "a.csv"),
              null,
              null,
              null,
              null,
              null),
          new ToolComplete(
              new ToolCallId("call-1"), "read_file", true, null, null, null, null, null),
          new ContentDelta("Hel\u001b]0;owned\u0007", 0, BLOCK),
          new ContentDelta("lo\nthere", 1, BLOCK),
          new ContentComplete("Hello\nthere", BLOCK, FinishReason.STOP, null, null, null),
          new FileWrite(
              new ArtifactId("a-1"), "# R", 0, true, "report.md", null, null, null, null, 1),
          new Usage("offline", 3, 5, null, null, null),
          new Message(new MessageId("m-2"), Role.ASSISTANT, "Hello\nthere", null, null),
          new TaskStatus(TaskState.COMPLETED, null, null),
          new TaskComplete("Hello\nthere", List.of(new ArtifactId("a-1")), null));

  @Test
  void a_terminal_shows_the_answer_and_what_led_to_it_without_escape_sequences() {
    var testTerminal = TestTerminal.terminal(Map.of(), "");
    show(testTerminal, TALK, TaskState.COMPLETED);

    assertThat(testTerminal.out())
        .isEqualTo(
            """
            Let me look.
            There.
            ✓ read_file a.csv, 100 ms
            Hel]0;ownedlo
            there
            + file report.md (a-1)
            done after 1.3 s, 8 tokens
            """);
  }

  @Test
  void thoughts_are_for_those_who_ask() {
    var testTerminal = TestTerminal.terminal(Map.of(), "");
    var view = new ChatView(testTerminal.terminal(), TestEntries.TASK, false, false);
    TALK.forEach(view::show);

    assertThat(testTerminal.out()).doesNotContain("Let me look.").contains("✓ read_file");
  }

  @Test
  void details_are_for_those_who_ask() {
    var testTerminal = TestTerminal.terminal(Map.of(), "");
    showAll(testTerminal, TALK);

    assertThat(testTerminal.out())
        .contains("Let me look.\n", "* read_file {\"path\":\"a.csv\"}\n  ok 100 ms\n")
        .contains("usage             offline, 3 in, 5 out\n");
  }

  @Test
  void the_work_of_the_supervisor_takes_one_line() {
    var testTerminal = TestTerminal.terminal(Map.of(), "");
    var routing = Json.object();
    routing.putObject("routing").put("strategy", "single").put("reasoning", "it is about code");
    var call = new ToolCallId("call-1");
    var spawned = new SubagentMetadata(List.of(new TaskId("s-1")), 1, Mode.PARALLEL);
    var arguments = Json.object().put("mode", "parallel");
    var talk = TestEntries.talk();
    talk.add(new TaskCreated(Initiator.USER, null, null, "hi", null, null, null, null));
    talk.add(new TaskStatus(TaskState.WORKING, "single: worker", routing));
    talk.add(new ToolStart(call, "subagents", arguments, null, null, null, null, spawned));
    talk.add(subtask("s-1")).add("s-1", delta("Hello"));
    talk.add("s-1", complete("Hello"));
    talk.add(new SubtaskComplete(new TaskId("s-1"), TaskState.COMPLETED, "Hello", null));
    talk.add(new ToolComplete(call, "subagents", true, null, null, null, null, spawned));
    talk.add(new TaskComplete("Hello", null, null));
    show(testTerminal, talk.entries(), TaskState.COMPLETED);

    assertThat(testTerminal.out())
        .isEqualTo(
            """
            → worker, 400 ms
            Hello
            done after 800 ms
            """);
    var detailed = TestTerminal.terminal(Map.of(), "");
    showAll(detailed, talk.entries());
    assertThat(detailed.out())
        .contains("> single it is about code\n")
        .contains("* subagents {\"mode\":\"parallel\"}\n", "> worker: do s-1\n")
        .contains("< worker completed 300 ms\n");
  }

  @Test
  void an_answer_that_ended_early_says_why_even_in_a_pipe() {
    for (var reason :
        Map.of(
                "length", "reached its output limit",
                "content-filter", "content filter",
                "refusal", "refused")
            .entrySet()) {
      var testTerminal = TestTerminal.piped(Map.of());
      var metadata = Json.object().put("finishReason", reason.getKey());
      show(
          testTerminal,
          TestEntries.of(
              new ContentDelta("so f", 0, BLOCK), new TaskComplete("so f", null, metadata)),
          TaskState.COMPLETED);

      assertThat(testTerminal.out()).isEqualTo("so f\n");
      assertThat(testTerminal.err())
          .startsWith("The answer ended early: ")
          .contains(reason.getValue());
    }
  }

  @Test
  void a_terminal_with_colours_shows_markdown_and_a_pipe_does_not() {
    var answer =
        TestEntries.of(
            new ContentDelta("# Ti", 0, BLOCK),
            new ContentDelta("tle\nso **bo", 1, BLOCK),
            new ContentDelta("ld**\u001b[2J\n", 2, BLOCK),
            new TaskComplete("...", null, null));
    var coloured = TestTerminal.terminal(Map.of(), "");
    var terminal = coloured.terminal().with(ColorMode.ALWAYS);
    var view = new ChatView(terminal, TestEntries.TASK, false, false);
    answer.forEach(view::show);
    var pipe = TestTerminal.piped(Map.of());
    show(pipe, answer, TaskState.COMPLETED);

    assertThat(coloured.out())
        .isEqualTo("\u001b[1;4mTi\u001b[0m\u001b[1;4mtle\u001b[0m\nso \u001b[1mbold\u001b[0m[2J\n");
    assertThat(pipe.out()).isEqualTo("# Title\nso **bold**\u001b[2J\n");
  }

  @Test
  void sub_agents_that_speak_at_once_do_not_mix_and_are_no_part_of_the_answer() {
    var testTerminal = TestTerminal.terminal(Map.of(), "");
    var talk = TestEntries.talk();
    talk.add(subtask("s-1")).add(subtask("s-2"));
    talk.add("s-1", delta("red ")).add("s-2", delta("blue ")).add("s-1", delta("one\nred"));
    talk.add("s-2", delta("one")).add("s-1", delta(" two"));
    talk.add("s-2", complete("blue one")).add("s-1", complete("red one\nred two"));
    talk.add("s-2", usage("0.0011")).add("s-1", "n-1", delta("deep\n"));
    talk.add(new SubtaskComplete(new TaskId("s-2"), TaskState.COMPLETED, null, null));
    talk.add(new ContentDelta("The answer", 0, BLOCK)).add(usage("0.0001"));
    show(testTerminal, talk.entries(), TaskState.COMPLETED);

    assertThat(testTerminal.out())
        .isEqualTo(
            """
            → worker, worker#2
            ✓ worker#2, 1.0 s
            The answer
            done, 20 tokens, $0.0012
            """);
    var detailed = TestTerminal.terminal(Map.of(), "");
    showAll(detailed, talk.entries());
    assertThat(detailed.out())
        .containsSubsequence(
            "> worker: do s-1\n",
            "> worker#2: do s-2\n",
            "  worker: red one\n",
            "  worker#2: blue one\n",
            "  worker: red two\n",
            "    worker#3: deep\n",
            "< worker#2 completed 1.0 s\n",
            "The answer\n",
            "done, 20 tokens, $0.0012\n");
  }

  @Test
  void a_pipe_gets_the_answer_exactly_and_nothing_else() {
    var testTerminal = TestTerminal.piped(Map.of());
    show(testTerminal, TALK, TaskState.COMPLETED);

    assertThat(testTerminal.out()).isEqualTo("Hel\u001b]0;owned\u0007lo\nthere\n");
    assertThat(testTerminal.err()).isEmpty();
  }

  @Test
  void an_answer_that_was_not_streamed_is_shown_at_the_end() {
    var testTerminal = TestTerminal.piped(Map.of());
    show(
        testTerminal,
        TestEntries.of(
            new Message(new MessageId("m-2"), Role.ASSISTANT, "All at once", null, null),
            new TaskComplete("All at once", null, null)),
        TaskState.COMPLETED);

    assertThat(testTerminal.out()).isEqualTo("All at once\n");
  }

  @Test
  void a_failure_says_why_even_in_a_pipe() {
    var testTerminal = TestTerminal.piped(Map.of());
    show(
        testTerminal,
        TestEntries.of(
            new ContentDelta("so f", 0, BLOCK),
            new ErrorReported(ErrorCode.TIMEOUT, "too slow", true, ErrorScope.TASK, null),
            new TaskStatus(TaskState.FAILED, "timed out", null)),
        TaskState.FAILED);

    assertThat(testTerminal.out()).isEqualTo("so f\n");
    assertThat(testTerminal.err()).isEqualTo("The task failed: timeout: too slow\n");
  }

  @Test
  void colours_are_for_terminals_that_want_them() {
    assertThat(new TextStyle(true).dim("x")).isEqualTo("\u001b[2mx\u001b[0m");
    assertThat(TestTerminal.terminal(Map.of(), "").terminal().outStyle().coloured()).isFalse();
    assertThat(TestTerminal.piped(Map.of()).terminal().errStyle().coloured()).isFalse();
    assertThat(coloured("xterm", ColorMode.AUTO)).isTrue();
    assertThat(coloured("dumb", ColorMode.AUTO)).isFalse();
    assertThat(coloured("xterm", ColorMode.NEVER)).isFalse();
    var piped = TestTerminal.piped(Map.of("NO_COLOR", "1")).terminal();
    assertThat(piped.with(ColorMode.ALWAYS).outStyle().coloured()).isTrue();
    assertThat(ColorMode.fromArguments("chat", "--color=always", "hi")).isEqualTo(ColorMode.ALWAYS);
    assertThat(ColorMode.fromArguments("--color", "never", "chat")).isEqualTo(ColorMode.NEVER);
    assertThat(ColorMode.fromArguments("chat", "--", "--color=always")).isEqualTo(ColorMode.AUTO);
  }

  private static boolean coloured(String type, ColorMode mode) {
    var none = InputStream.nullInputStream();
    var out = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
    var terminal = new Terminal(none, out, out, Map.of("TERM", type), true, true, true);
    return terminal.with(mode).outStyle().coloured();
  }

  @Test
  void an_event_is_one_line() {
    var line = new EventText(new TextStyle(false), ZoneOffset.UTC);

    assertThat(TALK.stream().map(line::of).collect(Collectors.joining("\n", "", "\n")))
        .isEqualTo(
            """
                 1  10:30:00.100  task-000  task-created      user "hi"
                 2  10:30:00.200  task-000  task-status       working
                 3  10:30:00.300  task-000  thought-stream    planning "Let me look."
                 4  10:30:00.400  task-000  thought-stream    decision "There."
                 5  10:30:00.500  task-000  tool-start        read_file {"path":"a.csv"}
                 6  10:30:00.600  task-000  tool-complete     read_file ok
                 7  10:30:00.700  task-000  content-delta     "Hel]0;owned"
                 8  10:30:00.800  task-000  content-delta     "lo\\nthere"
                 9  10:30:00.900  task-000  content-complete  stop "Hello\\nthere"
                10  10:30:01.000  task-000  file-write        report.md chunk 0, complete
                11  10:30:01.100  task-000  usage             offline, 3 in, 5 out
                12  10:30:01.200  task-000  message           assistant "Hello\\nthere"
                13  10:30:01.300  task-000  task-status       completed
                14  10:30:01.400  task-000  task-complete     "Hello\\nthere"
            """);
  }

  @Test
  void text_from_elsewhere_cannot_steer_the_terminal() {
    assertThat(TextSanitizer.text("a\u001b[31mb\u009b2Jc\r\bd\u202Ee\n\tf\ud800"))
        .isEqualTo("a[31mb2Jcde\n\tf");
    assertThat(TextSanitizer.text("👩\u200d🚀")).isEqualTo("👩\u200d🚀");
    assertThat(TextSanitizer.line("one\ntwo\tthree", 9)).isEqualTo("one tw...");
    assertThat(TextSanitizer.line("🦜🦜🦜🦜🦜", 4)).isEqualTo("🦜...");
  }

  @Test
  void times_and_sizes_are_short() {
    assertThat(HumanUnits.text(Duration.ofMillis(999))).isEqualTo("999 ms");
    assertThat(HumanUnits.text(Duration.ofSeconds(61))).isEqualTo("1 min 1 s");
    assertThat(HumanUnits.text(Duration.ofMinutes(125))).isEqualTo("2 h 5 min");
    assertThat(HumanUnits.size(1536)).isEqualTo("1.5 KB");
  }

  private static SubtaskCreated subtask(String id) {
    return new SubtaskCreated(new TaskId(id), new AgentTypeId("worker"), "do " + id);
  }

  private static ContentDelta delta(String text) {
    return new ContentDelta(text, 0, BLOCK);
  }

  private static ContentComplete complete(String text) {
    return new ContentComplete(text, BLOCK, FinishReason.STOP, null, null, null);
  }

  private static Usage usage(String cost) {
    return new Usage("m", 4, 6, null, null, new BigDecimal(cost));
  }

  private static void show(TestTerminal testTerminal, List<Entry> entries, TaskState outcome) {
    var view = new ChatView(testTerminal.terminal(), TestEntries.TASK, true, false);
    entries.forEach(view::show);
    view.end(outcome, entries.getLast().timestamp());
  }

  private static void showAll(TestTerminal testTerminal, List<Entry> entries) {
    var view = new ChatView(testTerminal.terminal(), TestEntries.TASK, false, true);
    entries.forEach(view::show);
    view.end(TaskState.COMPLETED, entries.getLast().timestamp());
  }
}
