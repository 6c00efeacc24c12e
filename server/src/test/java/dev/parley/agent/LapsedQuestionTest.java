package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskState;
import dev.parley.runtime.ManualTime;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.task.WhenLapsed;
import dev.parley.tool.AskUserTool;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What happens to a task whose question expires.
@Timeout(60)
class LapsedQuestionTest {

  @TempDir Path folder;

  private final ManualTime time = new ManualTime();

  private final TestTool guarded = TestTool.echo("guarded", Permission.ASK);

  // EVENT-31
  @Test
  void a_task_fails_by_policy_when_its_question_expires() throws Exception {
    var taskLimits = limits(WhenLapsed.FAIL);
    try (var taskTestBed =
        TestTeam.world(TaskTestBed.newLog(time), folder, taskLimits, ToolPolicy.DEFAULT, guarded)) {
      var task = taskTestBed.submit("!guarded").taskId();
      time.advanceToTimer("ExpiryKey");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(taskTestBed.events(task, InputLapsed.class)).hasSize(1);
      var error = taskTestBed.events(task, ErrorReported.class).getFirst();
      assertThat(error.code()).isEqualTo(ErrorCode.TIMEOUT);
      assertThat(error.message()).contains("no answer arrived in time", "call guarded?");
      assertThat(guarded.called()).isEmpty();
    }
  }

  // EVENT-31
  @Test
  void a_question_can_set_what_happens_when_it_expires() throws Exception {
    var taskLimits = limits(WhenLapsed.CONTINUE);
    try (var taskTestBed =
        TestTeam.world(
            TaskTestBed.newLog(time), folder, taskLimits, ToolPolicy.DEFAULT, new AskUserTool())) {
      var strict =
          taskTestBed.submit("!ask_user {\"question\":\"who?\",\"whenLapsed\":\"fail\"}").taskId();
      time.advanceToTimer("ExpiryKey");
      assertThat(taskTestBed.awaitEnd(strict)).isEqualTo(TaskState.FAILED);

      var usual = taskTestBed.submit("!ask_user {\"question\":\"who?\"}").taskId();
      time.advanceToTimer("ExpiryKey");
      assertThat(taskTestBed.awaitEnd(usual)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(usual).content()).contains("there is no answer");
    }
  }

  // EVENT-31
  @Test
  void the_parent_is_notified_of_a_task_that_failed_without_an_answer() throws Exception {
    var taskLimits = limits(WhenLapsed.FAIL);
    try (var taskTestBed =
        TestTeam.world(TaskTestBed.newLog(time), folder, taskLimits, ToolPolicy.DEFAULT, guarded)) {
      var task = taskTestBed.submit(SubagentsTest.hand("a", "!guarded")).taskId();
      time.advanceToTimer("ExpiryKey");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).contains("no answer arrived in time");
      SubagentsTest.assertSound(taskTestBed);
    }
  }

  private static TaskLimits limits(WhenLapsed whenLapsed) {
    var d = TaskLimits.DEFAULT;
    return new TaskLimits(
        d.taskTimeout(),
        d.maxConcurrentTasks(),
        d.maxQueuedPerContext(),
        d.maxQueuedContexts(),
        d.maxContentLength(),
        d.stopGrace(),
        Duration.ofMinutes(1),
        whenLapsed,
        d.loop(),
        d.tree());
  }
}
