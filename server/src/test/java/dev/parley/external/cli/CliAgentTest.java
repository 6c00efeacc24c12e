package dev.parley.external.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agent.ToolPolicy;
import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.runtime.ManualTime;
import dev.parley.task.Submission;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.Tool.Permission;
import dev.parley.tool.process.ManagedProcess;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.BooleanNode;

/// Tests a command-line agent with a script that behaves like Claude Code.
@Timeout(60)
class CliAgentTest {

  @TempDir Path folder;

  @Test
  void what_it_says_is_streamed_and_counted() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("say hello");

      assertThat(cli.answer(task)).isEqualTo("hello");
      assertThat(cli.all(task, ContentDelta.class))
          .extracting(ContentDelta::delta)
          .containsExactly("hello");
      assertThat(cli.all(task, ContentComplete.class))
          .extracting(ContentComplete::content)
          .containsExactly("hello");
      assertThat(cli.all(task, Usage.class))
          .containsExactly(new Usage("fake", 3, 4, 0L, 0L, new BigDecimal("0.5")));
      assertThat(cli.all(task, InternalRaw.class)).hasSize(7);
    }
  }

  // CHAT-84
  @Test
  void the_number_of_model_calls_is_reported() throws Exception {
    try (var cli =
        new CliTestBed(TaskTestBed.newLog(), folder, printing(folder, "claude-tool.jsonl"))) {
      var task = cli.say("hi");

      cli.answer(task);
      assertThat(cli.all(task, InternalLlmCall.class))
          .extracting(InternalLlmCall::iteration)
          .containsExactly(1, 2);
      assertThat(turns(cli, task)).isEqualTo(2);
    }
    var silent =
        CliSettings.of(
            CliProgram.JSONL,
            List.of("/usr/bin/printf", "{\"type\":\"result\",\"result\":\"ok\"}\n"),
            CliTestBed.scripted(folder).environment());
    try (var cli = new CliTestBed(TaskTestBed.newLog(), folder, silent)) {
      var task = cli.say("hi");

      cli.answer(task);
      assertThat(turns(cli, task)).isEqualTo(1);
    }
  }

  private static int turns(CliTestBed cli, TaskId task) {
    var end = cli.all(task, TaskComplete.class).getFirst();
    return end.metadata().path("iterations").asInt();
  }

  /// A program that prints recorded output of Claude Code.
  static CliSettings printing(Path folder, String fixture) throws Exception {
    var lines = Path.of(CliAgentTest.class.getResource("/cli/" + fixture).toURI());
    return CliSettings.of(
        CliProgram.CLAUDE,
        List.of("/bin/sh", "-c", "cat >/dev/null & cat " + lines),
        CliTestBed.scripted(folder).environment());
  }

  // AGENT-6
  @Test
  void a_prompt_is_never_interpreted_by_a_shell() throws Exception {
    var settings =
        CliSettings.of(
            CliProgram.JSONL,
            List.of("/usr/bin/printf", "{\"type\":\"result\",\"result\":\"%.0sok\"}\n", "{prompt}"),
            CliTestBed.scripted(folder).environment());
    try (var cli = new CliTestBed(TaskTestBed.newLog(), folder, settings)) {
      assertThat(cli.ask("\"; touch pwned; echo \"$(touch pwned)`touch pwned`")).isEqualTo("ok");
    }
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      cli.ask("say $(touch pwned) `touch pwned` ; touch pwned");
      assertThat(folder.resolve("work/pwned")).doesNotExist();
    }
  }

  @Test
  void a_call_waits_for_a_person_who_may_change_it() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("ask touch it");
      var question = cli.question(task);
      var start = cli.all(task, ToolStart.class).getFirst();
      assertThat(question.metadata().path("toolCall").path("arguments").path("command").asString())
          .isEqualTo("touch it");
      assertThat(question.metadata().path("toolCallId").asString())
          .isEqualTo(start.toolCallId().value());
      assertThat(start.metadata().path("provider").asString()).isEqualTo("claude");
      assertThat(question.metadata().path("urgency").asString()).isEqualTo("medium");

      var value = Json.object().put("approved", true);
      value.putObject("arguments").put("command", "touch other");
      cli.answer(question, value);

      assertThat(cli.answer(task)).isEqualTo("done");
      assertThat(cli.read("done")).isEqualTo("touch other");
      assertThat(cli.all(task, ToolComplete.class).getFirst().result().asString())
          .isEqualTo("did touch other");
    }
  }

  @Test
  void a_call_that_is_denied_is_not_made_and_the_program_knows_why() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("ask touch it");
      cli.answer(
          cli.question(task), Json.object().put("approved", false).put("reason", "not today"));

      assertThat(cli.answer(task)).isEqualTo("done");
      assertThat(cli.read("done")).isEmpty();
      assertThat(cli.all(task, ToolComplete.class).getFirst().error()).contains("not today");
    }
  }

  @Test
  void the_policy_decides_before_anybody_is_asked() throws Exception {
    var toolPolicy = new ToolPolicy(null, List.of("Bash(one)"), List.of(), List.of("Bash(two)"));
    try (var cli = CliTestBed.scripted(folder, toolPolicy)) {
      var task = cli.say("two calls");

      assertThat(cli.answer(task)).isEqualTo("done");
      assertThat(cli.read("done")).isEqualTo("one");
      assertThat(cli.all(task, InputRequired.class)).isEmpty();
    }
  }

  @Test
  void with_permission_to_do_all_nobody_is_asked() throws Exception {
    var toolPolicy = new ToolPolicy(Permission.ALLOW, List.of(), List.of(), List.of());
    try (var cli = CliTestBed.scripted(folder, toolPolicy)) {
      assertThat(cli.ask("two calls")).isEqualTo("done");
      assertThat(cli.read("done")).isEqualTo("one\ntwo");
    }
  }

  @Test
  void the_next_task_goes_on_with_the_session() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      cli.ask("say alpha");

      assertThat(cli.ask("recall now")).contains("say alpha");
      assertThat(cli.read("starts").lines().toList().getLast())
          .contains("--resume")
          .doesNotContain("--fork-session");
    }
  }

  // SESSION-58
  @Test
  void after_a_rewind_the_program_does_not_know_what_was_removed() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      cli.ask("say alpha");
      var head = cli.world.log().head(TaskTestBed.CONTEXT).seq();
      var taken = cli.say("say bravo");
      cli.answer(taken);
      rewind(cli, head, taken);

      assertThat(cli.ask("recall now")).contains("say alpha").doesNotContain("bravo");
      assertThat(cli.ask("recall more")).contains("alpha", "recall now").doesNotContain("bravo");
    }
  }

  @Test
  void after_a_rewind_of_everything_the_program_knows_nothing() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var taken = cli.say("say alpha");
      cli.answer(taken);
      rewind(cli, 1, taken);

      assertThat(cli.ask("recall now")).doesNotContain("alpha");
    }
  }

  private static void rewind(CliTestBed cli, long toSeq, TaskId task) {
    cli.world
        .log()
        .append(
            TaskTestBed.CONTEXT,
            AppendGuard.none(),
            _ -> List.of(EventDraft.of(new ContextRewound(toSeq, task, null, null, null))));
  }

  @Test
  void a_session_that_is_lost_is_told_again_from_the_log() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      cli.ask("say alpha");
      try (var sessions = Files.list(cli.home.resolve("sessions"))) {
        Files.delete(sessions.findFirst().orElseThrow());
      }

      assertThat(cli.ask("recall now")).contains("User: say alpha", "Assistant");
    }
  }

  @Test
  void a_cancel_interrupts_the_program() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(new ManualTime()), folder)) {
      var task = cli.say("heed me");
      cli.world.await(e -> task.equals(e.taskId()) && e.event() instanceof ContentDelta);
      cli.world.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.CANCELED);
      assertThat(cli.read("heeded")).isEqualTo("heeded");
    }
  }

  @Test
  void a_program_that_is_killed_leaves_its_calls_in_doubt() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("die now");

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.all(task, ToolComplete.class).getFirst().outcome())
          .isEqualTo(Outcome.OUTCOME_UNKNOWN);
      assertThat(cli.all(task, ErrorReported.class).getLast().message())
          .contains("exit code 137 without a result");
      assertThat(cli.all(task, ContentComplete.class).getFirst().partial()).isTrue();
    }
  }

  @Test
  void the_last_words_of_a_program_that_quits_are_told() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("quit now");

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.all(task, ErrorReported.class).getLast().message())
          .contains("exit code 3", "something is wrong");
    }
  }

  // AGENT-4
  @Test
  void the_result_decides_not_the_exit_code() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("fail now");

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.all(task, ErrorReported.class).getLast())
          .extracting(ErrorReported::code, ErrorReported::message)
          .containsExactly(ErrorCode.RATE_LIMITED, "no credit");
    }
  }

  // AGENT-21, AGENT-22
  @Test
  void noise_and_unknown_lines_are_kept_and_do_no_harm() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("noise around");

      assertThat(cli.answer(task)).isEqualTo("around");
      assertThat(cli.all(task, InternalRaw.class))
          .extracting(InternalRaw::line)
          .contains("Warning: noise", "{\"broken", "\u001b[1m{\"type\":\"tomorrow\"}\u001b[0m");
    }
  }

  // AGENT-8
  @Test
  void a_program_that_keeps_running_after_its_result_is_stopped() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      assertThat(cli.ask("linger please")).isEqualTo("lingering");
      var child = ProcessHandle.of(Long.parseLong(cli.read("child")));
      // A process that has ended and was not reaped yet has no command.
      assertThat(child.flatMap(process -> process.info().command())).isEmpty();
    }
  }

  // AGENT-8
  @Test
  void a_silent_program_is_stopped() throws Exception {
    var settings = CliTestBed.scripted(folder).withSilenceTimeout(Duration.ofMillis(500));
    try (var cli = new CliTestBed(TaskTestBed.newLog(), folder, settings)) {
      var task = cli.say("silent night");

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.all(task, ErrorReported.class).getLast().code()).isEqualTo(ErrorCode.TIMEOUT);
    }
  }

  @Test
  void a_program_that_floods_is_ended() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("flood it");

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.all(task, ErrorReported.class).getLast().code()).isEqualTo(ErrorCode.LIMIT);
    }
  }

  @Test
  void what_the_program_wants_and_cannot_have_is_refused() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      assertThat(cli.ask("hook me")).isEqualTo("refused");
    }
  }

  @Test
  void a_program_that_is_not_there_says_what_to_do() throws Exception {
    var settings =
        CliSettings.of(
            CliProgram.CLAUDE,
            List.of("no-such-program"),
            CliTestBed.scripted(folder).environment());
    try (var cli = new CliTestBed(TaskTestBed.newLog(), folder, settings)) {
      var task = cli.say("hi");

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.all(task, ErrorReported.class).getLast().message()).contains("install it");
    }
  }

  @Test
  void a_question_is_as_urgent_as_its_task() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var taskOptions =
          new Submission.TaskOptions(null, null, Priority.CRITICAL, null, null, null, null);
      var task =
          cli.world.tasks().submit(TaskTestBed.submission("ask touch it", taskOptions)).taskId();

      var question = cli.question(task);

      assertThat(question.metadata().path("urgency").asString()).isEqualTo("high");
      cli.answer(question, BooleanNode.TRUE);
      assertThat(cli.answer(task)).isEqualTo("done");
    }
  }

  // AGENT-25
  @Test
  void a_sub_agent_inside_the_program_is_a_task_of_its_own() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("agent go");

      assertThat(cli.answer(task)).isEqualTo("it found");
      var start = cli.all(task, ToolStart.class).getFirst();
      var created = cli.all(task, SubtaskCreated.class).getFirst();
      assertThat(created.prompt()).isEqualTo("look");
      assertThat(start.subagentMetadata().taskIds()).containsExactly(created.subtaskId());
      var below = cli.below(task);
      assertThat(below)
          .allMatch(e -> start.toolCallId().equals(e.origin().spawnedByCallId()))
          .allMatch(e -> e.origin().invocationId() != null);
      assertThat(below)
          .extracting(Entry::event)
          .hasAtLeastOneElementOfType(TaskCreated.class)
          .hasAtLeastOneElementOfType(ContentDelta.class)
          .hasAtLeastOneElementOfType(ToolStart.class)
          .hasAtLeastOneElementOfType(ToolComplete.class);
      assertThat(cli.all(task, SubtaskComplete.class))
          .containsExactly(
              new SubtaskComplete(created.subtaskId(), TaskState.COMPLETED, "found", null));
      var end = (TaskComplete) below.getLast().event();
      assertThat(end.content()).isEqualTo("found");
      assertThat(end.metadata().path("duration").isIntegralNumber()).isTrue();
      assertThat(cli.all(task, ToolComplete.class)).hasSize(1);
    }
  }

  @Test
  void a_sub_agent_ends_with_its_program() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("agent lost");

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.all(task, SubtaskComplete.class))
          .extracting(SubtaskComplete::status)
          .containsExactly(TaskState.FAILED);
      assertFailed(cli.below(task), ErrorCode.INTERRUPTED, "claude ended before its subagent");
    }
  }

  @Test
  void a_sub_agent_that_fails_inside_the_program_has_an_error() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("agent fails");

      assertThat(cli.answer(task)).isEqualTo("it failed");
      assertThat(cli.all(task, SubtaskComplete.class))
          .extracting(SubtaskComplete::error)
          .containsExactly("out of luck");
      assertFailed(cli.below(task), ErrorCode.TOOL_FAILED, "out of luck");
    }
  }

  private static void assertFailed(List<Entry> task, ErrorCode code, String message) {
    assertThat(task.get(task.size() - 2).event())
        .isEqualTo(new ErrorReported(code, message, false, ErrorScope.TASK, null));
    var end = (TaskStatus) task.getLast().event();
    assertThat(end.status()).isEqualTo(TaskState.FAILED);
    assertThat(end.metadata().path("reason").asString()).isEqualTo(message);
    assertThat(end.metadata().path("duration").isIntegralNumber()).isTrue();
  }

  @Test
  void nobody_is_waited_for_when_the_program_that_asked_has_ended() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("ask and leave");

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
    }
  }

  @Test
  void the_words_of_an_unknown_sub_agent_are_not_the_programs_own() throws Exception {
    try (var cli = CliTestBed.scripted(TaskTestBed.newLog(), folder)) {
      var task = cli.say("stranger hello");

      assertThat(cli.answer(task)).isEqualTo("hello");
      assertThat(cli.all(task, ContentComplete.class))
          .extracting(ContentComplete::content)
          .containsExactly("hello");
      assertThat(cli.all(task, ToolStart.class)).isEmpty();
      assertThat(cli.all(task, InternalRaw.class)).anyMatch(raw -> raw.line().contains("who am I"));
    }
  }

  // CHAT-81
  @Test
  void a_program_that_ignores_everything_is_gone_within_two_seconds() {
    var longest = ProgramRun.AFTER_INTERRUPT.plus(ManagedProcess.GRACE);

    assertThat(longest).isLessThanOrEqualTo(Duration.ofMillis(1_500));
  }
}
