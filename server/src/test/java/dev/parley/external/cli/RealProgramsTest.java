package dev.parley.external.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agent.ToolPolicy;
import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.model.FakeModelServer;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.BooleanNode;

/// Tests the real programs with a stand-in model.
@Tag("long")
@Timeout(300)
class RealProgramsTest {

  private static final ToolPolicy ALL =
      new ToolPolicy(Permission.ALLOW, List.of(), List.of(), List.of());

  @TempDir Path folder;

  @Test
  void claude_code_answers_and_goes_on_with_its_session() throws Exception {
    try (var model = RealPrograms.model();
        var cli =
            new CliTestBed(TaskTestBed.newLog(), folder, RealPrograms.claude(folder, model))) {
      var task = cli.say("PLAIN alpha");

      assertThat(cli.answer(task)).isEqualTo("Hello from the model");
      assertThat(cli.all(task, ContentDelta.class)).hasSize(2);
      assertThat(cli.all(task, Usage.class)).isNotEmpty();
      assertThat(cli.all(task, InternalRaw.class)).isNotEmpty();
      cli.ask("PLAIN bravo");
      assertThat(model.lastRequest().body().toString()).contains("alpha", "bravo");
    }
  }

  // SESSION-58
  @Test
  void claude_code_does_not_remember_what_a_rewind_removed() throws Exception {
    try (var model = RealPrograms.model();
        var cli =
            new CliTestBed(TaskTestBed.newLog(), folder, RealPrograms.claude(folder, model))) {
      cli.ask("PLAIN alpha");
      var head = cli.world.log().head(TaskTestBed.CONTEXT).seq();
      var taken = cli.say("PLAIN bravo");
      cli.answer(taken);
      rewind(cli, head, taken);
      cli.ask("PLAIN charlie");

      assertThat(model.lastRequest().body().toString())
          .contains("alpha", "charlie")
          .doesNotContain("bravo");
      cli.ask("PLAIN delta");
      assertThat(model.lastRequest().body().toString())
          .contains("alpha", "charlie", "delta")
          .doesNotContain("bravo");
    }
  }

  @Test
  void claude_code_waits_for_permission() throws Exception {
    try (var model = RealPrograms.model();
        var cli =
            new CliTestBed(TaskTestBed.newLog(), folder, RealPrograms.claude(folder, model))) {
      var denied = cli.say("PLEASE-CALL one");
      cli.answer(
          cli.question(denied), Json.object().put("approved", false).put("reason", "not today"));
      assertThat(cli.answer(denied)).isEqualTo("Hello from the model");
      assertThat(cli.all(denied, ToolComplete.class).getFirst().error()).contains("not today");
      assertThat(folder.resolve("work/made")).doesNotExist();

      var changed = cli.say("PLEASE-CALL two");
      var value = Json.object().put("approved", true);
      value.putObject("arguments").put("command", "touch changed").put("description", "d");
      cli.answer(cli.question(changed), value);
      assertThat(cli.answer(changed)).isEqualTo("Hello from the model");
      assertThat(folder.resolve("work/changed")).exists();
      assertThat(folder.resolve("work/made")).doesNotExist();

      var allowed = cli.say("PLEASE-CALL three");
      cli.answer(cli.question(allowed), BooleanNode.TRUE);
      assertThat(cli.answer(allowed)).isEqualTo("Hello from the model");
      assertThat(folder.resolve("work/made")).exists();
    }
  }

  @Test
  void claude_code_is_taken_up_after_a_restart_of_the_server() throws Exception {
    var log = TaskTestBed.newLog();
    TaskId task;
    InputRequired question;
    try (var model = RealPrograms.model()) {
      try (var cli = new CliTestBed(log, folder, RealPrograms.claude(folder, model))) {
        task = cli.say("PLEASE-CALL one");
        question = cli.question(task);
      }
      try (var cli = new CliTestBed(log, folder, RealPrograms.claude(folder, model))) {
        cli.world.tasks().recover();
        cli.answer(question, BooleanNode.TRUE);

        assertThat(cli.answer(task)).isEqualTo("Hello from the model");
        assertThat(model.lastRequest().body().toString()).contains("A person has approved it now");
      }
    }
  }

  @Test
  void claude_code_stops_when_it_is_canceled_and_fails_when_it_is_killed() throws Exception {
    try (var model = RealPrograms.model();
        var cli =
            new CliTestBed(TaskTestBed.newLog(), folder, RealPrograms.claude(folder, model))) {
      var canceled = cli.say("PLAIN HANG");
      awaitDelta(cli, canceled);
      cli.world.tasks().cancel(TaskTestBed.CONTEXT, canceled, "local", null);
      assertThat(cli.world.awaitEnd(canceled)).isEqualTo(TaskState.CANCELED);
      awaitNoneLeft();

      var killed = cli.say("PLAIN HANG again");
      awaitDelta(cli, killed);
      left().forEach(ProcessHandle::destroyForcibly);
      assertThat(cli.world.awaitEnd(killed)).isEqualTo(TaskState.FAILED);
      assertThat(cli.all(killed, ErrorReported.class).getLast().message())
          .contains("without a result");
    }
  }

  @Test
  void codex_answers_calls_a_tool_and_goes_on_with_its_session() throws Exception {
    try (var model = RealPrograms.model();
        var cli = new CliTestBed(TaskTestBed.newLog(), folder, RealPrograms.codex(folder, model))) {
      var task = cli.say("PLEASE-CALL alpha");
      cli.answer(cli.question(task), BooleanNode.TRUE);

      assertThat(cli.answer(task)).isEqualTo("Hello from the model");
      assertThat(cli.all(task, ToolStart.class).getFirst().toolName()).isEqualTo("shell");
      assertThat(cli.all(task, Usage.class)).hasSize(1);
      var head = cli.world.log().head(TaskTestBed.CONTEXT).seq();
      var taken = cli.say("PLAIN bravo");
      cli.answer(taken);
      assertThat(model.lastRequest().body().toString()).contains("alpha", "bravo");
      rewind(cli, head, taken);
      cli.ask("PLAIN charlie");
      assertThat(model.lastRequest().body().toString())
          .contains("alpha", "charlie")
          .doesNotContain("bravo");
    }
  }

  @Test
  void codex_waits_for_permission() throws Exception {
    try (var model = RealPrograms.model();
        var cli = new CliTestBed(TaskTestBed.newLog(), folder, RealPrograms.codex(folder, model))) {
      deniedThenAllowed(cli);
      assertThat(model.lastRequest().body().toString()).contains("rejected by user");
    }
  }

  @Test
  void codex_asks_nobody_if_it_may_do_all_or_nothing() throws Exception {
    for (var permission : List.of(Permission.DENY, Permission.ALLOW)) {
      var toolPolicy = new ToolPolicy(permission, List.of(), List.of(), List.of());
      try (var model = RealPrograms.model();
          var cli =
              new CliTestBed(
                  TaskTestBed.newLog(),
                  folder,
                  RealPrograms.codex(folder, model).with(toolPolicy))) {
        var task = cli.say("PLEASE-CALL TOUCH");

        assertThat(cli.answer(task)).isEqualTo("Hello from the model");
        assertThat(cli.all(task, InputRequired.class)).isEmpty();
        assertThat(folder.resolve("work/made").toFile().exists())
            .isEqualTo(permission == Permission.ALLOW);
      }
    }
  }

  private void deniedThenAllowed(CliTestBed cli) throws Exception {
    var denied = cli.say("PLEASE-CALL TOUCH one");
    cli.answer(cli.question(denied), BooleanNode.FALSE);
    assertThat(cli.answer(denied)).startsWith("Hello from");
    assertThat(cli.all(denied, ToolComplete.class)).singleElement().matches(end -> !end.success());
    assertThat(folder.resolve("work/made")).doesNotExist();

    var allowed = cli.say("PLEASE-CALL TOUCH two");
    cli.answer(cli.question(allowed), BooleanNode.TRUE);
    assertThat(cli.answer(allowed)).startsWith("Hello from");
    assertThat(cli.all(allowed, ToolComplete.class)).singleElement().matches(end -> end.success());
    assertThat(folder.resolve("work/made")).exists();
  }

  @Test
  void codex_stops_when_it_is_canceled_and_fails_when_it_is_killed() throws Exception {
    try (var model = RealPrograms.model();
        var cli = new CliTestBed(TaskTestBed.newLog(), folder, RealPrograms.codex(folder, model))) {
      var canceled = cli.say("PLAIN HANG");
      awaitQuestion(model, "HANG");
      cli.world.tasks().cancel(TaskTestBed.CONTEXT, canceled, "local", null);
      assertThat(cli.world.awaitEnd(canceled)).isEqualTo(TaskState.CANCELED);
      awaitNoneLeft();

      var killed = cli.say("PLAIN HANG again");
      awaitQuestion(model, "again");
      left().forEach(ProcessHandle::destroyForcibly);
      assertThat(cli.world.awaitEnd(killed)).isEqualTo(TaskState.FAILED);
    }
  }

  @Test
  void gemini_cli_answers_and_goes_on_with_its_session() throws Exception {
    try (var model = new GeminiStandIn();
        var cli =
            new CliTestBed(TaskTestBed.newLog(), folder, RealPrograms.gemini(folder, model))) {
      var task = cli.say("PLAIN alpha");

      assertThat(cli.answer(task)).isEqualTo("Hello from Gemini");
      assertThat(cli.all(task, Usage.class)).isNotEmpty();
      var head = cli.world.log().head(TaskTestBed.CONTEXT).seq();
      var taken = cli.say("PLAIN bravo");
      cli.answer(taken);
      assertThat(model.questions().getLast()).contains("alpha", "bravo");
      rewind(cli, head, taken);
      cli.ask("PLAIN charlie");
      assertThat(model.questions().getLast()).contains("alpha", "charlie").doesNotContain("bravo");
    }
  }

  @Test
  void gemini_cli_waits_for_permission() throws Exception {
    try (var model = new GeminiStandIn();
        var cli =
            new CliTestBed(TaskTestBed.newLog(), folder, RealPrograms.gemini(folder, model))) {
      deniedThenAllowed(cli);
      assertThat(model.questions())
          .anyMatch(question -> question.contains("was canceled by the user"));
    }
  }

  @Test
  void gemini_cli_may_do_nothing_that_needs_a_word_if_that_is_denied() throws Exception {
    var toolPolicy = new ToolPolicy(Permission.DENY, List.of(), List.of(), List.of());
    try (var model = new GeminiStandIn();
        var cli =
            new CliTestBed(
                TaskTestBed.newLog(),
                folder,
                RealPrograms.gemini(folder, model).with(toolPolicy))) {
      var task = cli.say("PLEASE-CALL TOUCH");

      assertThat(cli.answer(task)).isEqualTo("Hello from Gemini");
      assertThat(cli.all(task, InputRequired.class)).isEmpty();
      assertThat(folder.resolve("work/made")).doesNotExist();
    }
  }

  @Test
  void gemini_cli_calls_tools_if_it_may() throws Exception {
    try (var model = new GeminiStandIn();
        var cli =
            new CliTestBed(
                TaskTestBed.newLog(), folder, RealPrograms.gemini(folder, model).with(ALL))) {
      var task = cli.say("PLEASE-CALL alpha");

      assertThat(cli.answer(task)).isEqualTo("Hello from Gemini");
      assertThat(cli.all(task, ToolStart.class).getFirst().toolName())
          .isEqualTo("run_shell_command");
      assertThat(cli.all(task, ToolComplete.class).getFirst().success()).isTrue();
    }
  }

  @Test
  void gemini_cli_stops_when_it_is_canceled_and_fails_when_it_is_killed() throws Exception {
    try (var model = new GeminiStandIn();
        var cli =
            new CliTestBed(TaskTestBed.newLog(), folder, RealPrograms.gemini(folder, model))) {
      var canceled = cli.say("PLAIN HANG");
      awaitDelta(cli, canceled);
      cli.world.tasks().cancel(TaskTestBed.CONTEXT, canceled, "local", null);
      assertThat(cli.world.awaitEnd(canceled)).isEqualTo(TaskState.CANCELED);
      awaitNoneLeft();

      var killed = cli.say("PLAIN HANG again");
      awaitDelta(cli, killed);
      left().forEach(ProcessHandle::destroyForcibly);
      assertThat(cli.world.awaitEnd(killed)).isEqualTo(TaskState.FAILED);
    }
  }

  private static void awaitDelta(CliTestBed cli, TaskId task) throws InterruptedException {
    cli.world.await(e -> task.equals(e.taskId()) && e.event() instanceof ContentDelta);
  }

  private static void awaitQuestion(FakeModelServer model, String text)
      throws InterruptedException {
    Predicate<FakeModelServer.ReceivedRequest> wanted =
        receivedRequest -> receivedRequest.body().toString().contains(text);
    while (model.requests().stream().noneMatch(wanted)) {
      assertThat(model.awaitRequest(Duration.ofSeconds(60))).isTrue();
    }
  }

  /// The running processes that this process has started.
  private static List<ProcessHandle> left() {
    return ProcessHandle.current()
        .descendants()
        .filter(process -> process.info().command().isPresent())
        .toList();
  }

  private static void awaitNoneLeft() {
    left().forEach(process -> process.onExit().orTimeout(30, TimeUnit.SECONDS).join());
  }

  private static void rewind(CliTestBed cli, long toSeq, TaskId task) {
    cli.world
        .log()
        .append(
            TaskTestBed.CONTEXT,
            AppendGuard.none(),
            _ -> List.of(EventDraft.of(new ContextRewound(toSeq, task, null, null, null))));
  }
}
