package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.runtime.ManualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.StringNode;

/// Timers, task deadlines, and polling for questions that were answered remotely.
@Timeout(60)
class TaskTimeTest {

  private static final InputId INPUT = new InputId("i");

  @TempDir Path folder;

  /// Asks one question, waits, and completes when it was answered or has lapsed.
  private static class Asker implements Agent {
    @Override
    public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
      var news = taskRun.readNewEntries().stream().map(Entry::event).toList();
      if (news.stream().anyMatch(e -> e instanceof InputReceived || e instanceof InputLapsed)) {
        return new TaskOutcome.Completed(afterwards(taskRun));
      }
      if (news.stream().noneMatch(InputRequired.class::isInstance)) {
        beforeAsking();
        taskRun.emit(
            List.of(
                new InputRequired(
                    INPUT, true, InputType.CLARIFICATION, "who?", null, null, null, null)));
      }
      return new TaskOutcome.Parked(TaskState.WAITING_INPUT, Json.object());
    }

    void beforeAsking() {}

    String afterwards(TaskRun taskRun) {
      return "ok after " + taskRun.origin().taskId();
    }

    @Override
    public boolean resumes() {
      return true;
    }
  }

  @Test
  void a_clock_that_is_set_forward_takes_no_time_from_a_task() throws Exception {
    var time = new ManualTime();
    var agent =
        new Asker() {
          @Override
          void beforeAsking() {
            time.setClock(time.instant().plus(Duration.ofHours(10)));
          }

          @Override
          String afterwards(TaskRun taskRun) {
            var left = Duration.between(time.instant(), taskRun.deadline());
            return "%d h left".formatted(left.toHours());
          }
        };
    try (var taskTestBed =
        TaskTestBed.with(TaskTestBed.newLog(time), agent, folder, TaskLimits.DEFAULT)) {
      var threeHours = TaskTestBed.timeout(Duration.ofHours(3).toMillis());
      var task = taskTestBed.tasks().submit(TaskTestBed.submission("a", threeHours)).taskId();
      taskTestBed.await(
          e -> e.event() instanceof TaskStatus s && s.status() == TaskState.WAITING_INPUT);
      taskTestBed
          .tasks()
          .answer(
              TaskTestBed.CONTEXT,
              INPUT,
              StringNode.valueOf("me"),
              Answerer.trusted("local"),
              AppendGuard.none());

      taskTestBed.awaitEnd(task);
      assertThat(taskTestBed.answer(task).content()).isEqualTo("3 h left");
    }
  }

  @Test
  void a_look_that_fails_does_not_end_the_looking() throws Exception {
    var looks = new AtomicInteger();
    var agent =
        new Asker() {
          @Override
          public Optional<RemoteQuestionCheck> remoteQuestionCheck() {
            return Optional.of(
                (_, _) -> {
                  if (looks.getAndIncrement() == 0) {
                    throw new IllegalStateException("cannot tell");
                  }
                  return Optional.of("settled elsewhere");
                });
          }
        };
    var time = new ManualTime();
    try (var taskTestBed =
        TaskTestBed.with(TaskTestBed.newLog(time), agent, folder, TaskLimits.DEFAULT)) {
      var task = taskTestBed.submit("a").taskId();
      assertThat(time.awaitTimer("PollKey")).isEqualTo(Duration.ofSeconds(1));
      time.advanceToTimer("PollKey");
      assertThat(time.awaitTimer("PollKey")).isEqualTo(Duration.ofSeconds(2));
      time.advanceToTimer("PollKey");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.events(task, InputLapsed.class)).hasSize(1);
    }
  }

  @Test
  void a_timer_that_is_due_while_its_key_is_set_again_leaves_the_new_one_alone() throws Exception {
    try (var timers = new Timers(TaskTestBed.SOURCES.time())) {
      for (var round = 0; round < 3_000; round++) {
        timers.schedule("key", Duration.ZERO, () -> {});
        timers.schedule("key", Duration.ofHours(1), () -> {});
        var swept = new CountDownLatch(1);
        timers.schedule("after", Duration.ZERO, swept::countDown);
        swept.await();

        assertThat(timers.size()).as("the timer that was set last").isOne();
        timers.cancel("key");
        assertThat(timers.size()).isZero();
      }
    }
  }
}
