package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskState;
import dev.parley.task.Limits;
import dev.parley.task.WhenLapsed;
import dev.parley.task.World;
import dev.parley.tool.AskUser;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What happens to a task whose question expires.
@Timeout(60)
class LapseTest {

  @TempDir Path folder;

  private final TestTool guarded = TestTool.echo("guarded", Permission.ASK);

  @Test
  void s5_31_a_task_fails_by_policy_when_nobody_answers() throws Exception {
    var limits = limits(WhenLapsed.FAIL);
    try (var world = Team.world(World.newLog(), folder, limits, Policy.USUAL, guarded)) {
      var task = world.say("!guarded").taskId();

      assertThat(world.end(task)).isEqualTo(TaskState.FAILED);
      assertThat(world.events(task, InputLapsed.class)).hasSize(1);
      var error = world.events(task, ErrorReported.class).getFirst();
      assertThat(error.code()).isEqualTo(ErrorCode.TIMEOUT);
      assertThat(error.message()).contains("no answer arrived in time", "call guarded?");
      assertThat(guarded.called()).isEmpty();
    }
  }

  @Test
  void s5_31_a_question_says_itself_what_becomes_of_its_task() throws Exception {
    var limits = limits(WhenLapsed.CONTINUE);
    try (var world = Team.world(World.newLog(), folder, limits, Policy.USUAL, new AskUser())) {
      var strict = world.say("!ask_user {\"question\":\"who?\",\"whenLapsed\":\"fail\"}").taskId();
      assertThat(world.end(strict)).isEqualTo(TaskState.FAILED);

      var usual = world.say("!ask_user {\"question\":\"who?\"}").taskId();
      assertThat(world.end(usual)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.answer(usual).content()).contains("there is no answer");
    }
  }

  @Test
  void s5_31_a_task_that_failed_for_want_of_an_answer_is_told_to_the_one_above() throws Exception {
    var limits = limits(WhenLapsed.FAIL);
    try (var world = Team.world(World.newLog(), folder, limits, Policy.USUAL, guarded)) {
      var task = world.say(SubagentsTest.hand("a", "!guarded")).taskId();

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.answer(task).content()).contains("no answer arrived in time");
      SubagentsTest.assertSound(world);
    }
  }

  private static Limits limits(WhenLapsed whenLapsed) {
    var d = Limits.DEFAULT;
    return new Limits(
        d.taskTimeout(),
        d.maxConcurrentTasks(),
        d.maxQueuedPerContext(),
        d.maxQueuedContexts(),
        d.maxContentLength(),
        d.stopGrace(),
        Duration.ofMillis(150),
        whenLapsed,
        d.loop(),
        d.tree());
  }
}
