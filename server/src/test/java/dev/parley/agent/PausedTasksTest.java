package dev.parley.agent;

import static dev.parley.agent.QuestionsTest.answer;
import static dev.parley.agent.QuestionsTest.asked;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.control.Pauses.PauseRequest;
import dev.parley.protocol.PauseView.PauseScope;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.runtime.ManualTime;
import dev.parley.task.LogInvariants;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.BooleanNode;

/// Tasks that an operator pauses and resumes.
@Timeout(120)
class PausedTasksTest {

  private static final PauseRequest ALL = new PauseRequest(PauseScope.ALL, null, null);

  @TempDir Path folder;

  private final CountDownLatch running = new CountDownLatch(1);
  private final CountDownLatch finish = new CountDownLatch(1);
  private final TestTool slow =
      TestTool.of(
          "slow",
          Effect.AT_MOST_ONCE,
          Permission.ALLOW,
          (_, _) -> {
            running.countDown();
            finish.await();
            return TestTool.done("slow result");
          });
  private final TestTool echo = TestTool.echo("echo", Permission.ALLOW);

  private static void pause(TaskTestBed bed, PauseScope scope, @Nullable String target) {
    bed.controls().pauses().set(new PauseRequest(scope, target, null), "ada", Instant.EPOCH);
  }

  private static void resume(TaskTestBed bed, String id) {
    bed.controls().pauses().end(id);
  }

  @Test
  void a_new_task_waits_until_the_pause_ends() throws Exception {
    try (var bed = TestTeam.world(TaskTestBed.newLog(), folder)) {
      pause(bed, PauseScope.ALL, null);
      var task = bed.submit("hello").taskId();

      assertThat(bed.tasks().pauses().getFirst().waitingTasks()).isEqualTo(1);
      assertThat(bed.tasks().running()).isZero();
      assertThat(bed.events(task, TaskStatus.class)).isEmpty();

      resume(bed, "all");
      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(bed.answer(task).content()).isEqualTo("hello");
    }
  }

  @Test
  void a_running_call_ends_before_its_task_stops_and_is_not_repeated() throws Exception {
    try (var bed = TestTeam.world(TaskTestBed.newLog(), folder, slow)) {
      var task = bed.submit("!slow").taskId();
      running.await();
      pause(bed, PauseScope.ALL, null);
      finish.countDown();
      awaitSuspended(bed, task, "all");
      bed.awaitNoRun();
      assertThat(bed.events(task, ToolComplete.class)).hasSize(1);

      resume(bed, "all");
      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(slow.called()).hasSize(1);
      assertThat(bed.answer(task).content()).isEqualTo("slow result");
      LogInvariants.check(bed.log(), TaskTestBed.CONTEXT);
    }
  }

  private static void awaitSuspended(TaskTestBed bed, TaskId task, String pause)
      throws InterruptedException {
    bed.await(
        entry ->
            task.equals(entry.taskId())
                && entry.event() instanceof TaskStatus status
                && status.facts().pausedBy().filter(pause::equals).isPresent());
  }

  @Test
  void an_approval_during_a_pause_counts_and_its_call_is_made_afterwards() throws Exception {
    var guarded = TestTool.echo("guarded", Permission.ASK);
    try (var bed = TestTeam.world(TaskTestBed.newLog(), folder, guarded)) {
      var task = bed.submit("!guarded").taskId();
      var asked = asked(bed, task);
      bed.awaitNoRun();
      pause(bed, PauseScope.PERSON, "local");
      answer(bed, asked.inputId(), BooleanNode.TRUE);
      bed.awaitNoRun();
      assertThat(bed.events(task, ToolStart.class)).isEmpty();

      resume(bed, "person:local");
      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(guarded.called()).hasSize(1);
    }
  }

  @Test
  void only_the_paused_agent_waits_and_its_parent_continues_with_its_result() throws Exception {
    try (var bed = TestTeam.world(TaskTestBed.newLog(), folder, echo)) {
      pause(bed, PauseScope.AGENT, "a");
      var task = bed.submit(SubagentsTest.batch(Mode.PARALLEL, "one", "two")).taskId();
      bed.await(
          entry ->
              entry.taskId() != null
                  && !entry.taskId().equals(task)
                  && TaskTestBed.terminal(entry.event()));
      bed.awaitNoRun();
      assertThat(bed.tasks().pauses().getFirst().waitingTasks()).isEqualTo(1);

      resume(bed, "agent:a");
      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(bed.answer(task).content()).contains("one").contains("two");
    }
  }

  @Test
  void a_pause_of_somebody_else_changes_nothing() throws Exception {
    try (var bed = TestTeam.world(TaskTestBed.newLog(), folder)) {
      pause(bed, PauseScope.PERSON, "bob");
      pause(bed, PauseScope.TENANT, "acme");
      pause(bed, PauseScope.AGENT, "b");
      assertThat(bed.awaitEnd(bed.submit("hello").taskId())).isEqualTo(TaskState.COMPLETED);
    }
  }

  @Test
  void the_time_of_a_pause_does_not_count() throws Exception {
    var time = new ManualTime();
    try (var bed = TestTeam.world(TaskTestBed.newLog(time), folder, slow)) {
      var task = bed.submit("!slow").taskId();
      running.await();
      pause(bed, PauseScope.ALL, null);
      time.advance(Duration.ofDays(3));
      finish.countDown();
      awaitSuspended(bed, task, "all");
      time.advance(Duration.ofDays(3));

      resume(bed, "all");
      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
    }
  }

  @Test
  void a_paused_task_can_be_canceled() throws Exception {
    try (var bed = TestTeam.world(TaskTestBed.newLog(), folder, slow)) {
      var task = bed.submit("!slow").taskId();
      running.await();
      bed.controls().pauses().set(ALL, "ada", Instant.EPOCH);
      finish.countDown();
      awaitSuspended(bed, task, "all");
      bed.awaitNoRun();

      bed.tasks().cancel(TaskTestBed.CONTEXT, task, "ada", "not needed");
      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.CANCELED);
    }
  }

  @Test
  void a_suspended_task_continues_after_a_restart_during_the_pause() throws Exception {
    var log = TaskTestBed.newLog();
    TaskId task;
    try (var bed = TestTeam.world(log, folder, slow)) {
      task = bed.submit("!slow").taskId();
      running.await();
      bed.controls().pauses().set(ALL, "ada", Instant.EPOCH);
      finish.countDown();
      awaitSuspended(bed, task, "all");
    }
    try (var bed = TestTeam.world(log, folder, slow)) {
      bed.controls().pauses().set(ALL, "ada", Instant.EPOCH);
      bed.tasks().recover();
      assertThat(bed.tasks().running()).isZero();

      bed.controls().pauses().end("all");
      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(slow.called()).hasSize(1);
    }
  }
}
