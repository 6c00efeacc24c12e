package dev.parley.external.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.TaskTestBed;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.BooleanNode;

/// Tests the tasks of a command-line agent after the server stops and starts again.
@Timeout(60)
class CliRecoveryTest {

  @TempDir Path folder;

  @Test
  void an_approval_outlives_the_server() throws Exception {
    var log = TaskTestBed.newLog();
    TaskId task;
    InputRequired question;
    try (var cli = CliTestBed.scripted(log, folder)) {
      task = cli.say("ask touch it");
      question = cli.question(task);
    }
    try (var cli = CliTestBed.scripted(log, folder)) {
      cli.world.tasks().recover();
      assertThat(cli.all(task, InputLapsed.class)).isEmpty();
      cli.answer(question, BooleanNode.TRUE);

      assertThat(cli.answer(task)).isEqualTo("done");
      assertThat(cli.read("done")).isEqualTo("touch it");
      assertThat(cli.all(task, InputRequired.class)).hasSize(1);
      assertThat(cli.all(task, ToolComplete.class))
          .extracting(ToolComplete::outcome)
          .containsExactly(Outcome.INTERRUPTED, null);
    }
  }

  @Test
  void an_approval_outlives_a_server_that_was_killed_right_after_the_question() throws Exception {
    var log = TaskTestBed.newLog();
    TaskId task;
    InputRequired question;
    try (var cli = CliTestBed.scripted(log, folder)) {
      task = cli.say("ask touch it");
      question = cli.question(task);
    }
    try (var cli = CliTestBed.scripted(until(log, question), folder)) {
      cli.world.tasks().recover();
      cli.world.await(
          e ->
              e.event() instanceof TaskStatus status && status.status() == TaskState.WAITING_INPUT);
      cli.answer(question, BooleanNode.TRUE);

      assertThat(cli.answer(task)).isEqualTo("done");
      assertThat(cli.read("done")).isEqualTo("touch it");
      assertThat(cli.all(task, InputRequired.class)).hasSize(1);
    }
  }

  /// A log that ends with this event.
  private static EventLog until(EventLog log, Event last) {
    var cut = TaskTestBed.newLog();
    var ended = false;
    for (var entry : log.read(TaskTestBed.CONTEXT, Position.of(1), 1_000)) {
      if (!ended) {
        var eventDraft = new EventDraft(entry.origin(), entry.event());
        cut.append(TaskTestBed.CONTEXT, AppendGuard.none(), _ -> List.of(eventDraft));
      }
      ended |= entry.event().equals(last);
    }
    return cut;
  }

  @Test
  void an_approval_outlives_the_server_while_a_sub_agent_is_at_work() throws Exception {
    var log = TaskTestBed.newLog();
    TaskId task;
    InputRequired question;
    try (var cli = CliTestBed.scripted(log, folder)) {
      task = cli.say("below touch it");
      question = cli.question(task);
      cli.world.await(
          e ->
              task.equals(e.taskId())
                  && e.event() instanceof TaskStatus status
                  && status.status() == TaskState.WAITING_INPUT);
    }
    try (var cli = CliTestBed.scripted(log, folder)) {
      cli.world.tasks().recover();
      cli.answer(question, BooleanNode.TRUE);

      assertThat(cli.answer(task)).isEqualTo("done");
      assertThat(cli.read("done")).isEqualTo("touch it");
      assertThat(cli.all(task, InputLapsed.class)).isEmpty();
    }
  }

  @Test
  void an_approval_is_used_once_however_often_the_server_stops() throws Exception {
    var log = TaskTestBed.newLog();
    TaskId task;
    InputRequired question;
    try (var cli = CliTestBed.scripted(log, folder)) {
      task = cli.say("ask touch it");
      question = cli.question(task);
    }
    Files.writeString(folder.resolve("home/stuck"), "");
    try (var cli = CliTestBed.scripted(log, folder)) {
      cli.world.tasks().recover();
      cli.answer(question, BooleanNode.TRUE);
      cli.world.await(_ -> cli.all(task, ToolStart.class).size() == 2);
    }
    Files.delete(folder.resolve("home/stuck"));
    try (var cli = CliTestBed.scripted(log, folder)) {
      cli.world.tasks().recover();

      assertThat(cli.answer(task)).startsWith("you said Go on with what you were asked");
      assertThat(cli.read("done")).isEmpty();
      assertThat(cli.all(task, ToolComplete.class))
          .extracting(ToolComplete::outcome)
          .containsExactly(Outcome.INTERRUPTED, Outcome.OUTCOME_UNKNOWN);
    }
  }

  @Test
  void a_task_that_was_cut_off_and_whose_session_is_lost_is_not_done_anew() throws Exception {
    var log = TaskTestBed.newLog();
    TaskId task;
    try (var cli = CliTestBed.scripted(log, folder)) {
      task = cli.say("open the door");
      cli.world.await(e -> e.event() instanceof ToolStart);
    }
    try (var sessions = Files.list(folder.resolve("home/sessions"))) {
      for (var session : sessions.toList()) {
        Files.delete(session);
      }
    }
    try (var cli = CliTestBed.scripted(log, folder)) {
      cli.world.tasks().recover();

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.world.reason(task)).isEqualTo("interrupted");
      assertThat(cli.world.events(task, ErrorReported.class).getLast().message())
          .contains("its session is not on this machine");
      assertThat(cli.read("starts").lines()).hasSize(2);
    }
  }

  @Test
  void after_a_restart_the_session_goes_on_and_nothing_is_asked_twice() throws Exception {
    var log = TaskTestBed.newLog();
    TaskId task;
    try (var cli = CliTestBed.scripted(log, folder)) {
      task = cli.say("open the door");
      cli.world.await(e -> e.event() instanceof ToolStart);
    }
    try (var cli = CliTestBed.scripted(log, folder)) {
      cli.world.tasks().recover();

      assertThat(cli.answer(task)).startsWith("you said Go on with what you were asked");
      assertThat(cli.all(task, ToolComplete.class).getFirst().outcome())
          .isEqualTo(Outcome.OUTCOME_UNKNOWN);
      assertThat(cli.read("starts").lines().toList().getLast()).contains("--resume");
    }
  }

  @Test
  void without_a_session_a_task_that_was_cut_off_ends_as_interrupted() throws Exception {
    var log = TaskTestBed.newLog();
    TaskId task;
    Files.createDirectories(folder.resolve("home"));
    Files.writeString(folder.resolve("home/sleepy"), "sleep");
    try (var cli = CliTestBed.scripted(log, folder)) {
      task = cli.say("say hello");
      cli.world.await(e -> e.event().internal());
    }
    Files.delete(folder.resolve("home/sleepy"));
    try (var cli = CliTestBed.scripted(log, folder)) {
      cli.world.tasks().recover();

      assertThat(cli.world.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.world.reason(task)).isEqualTo("interrupted");
    }
  }
}
