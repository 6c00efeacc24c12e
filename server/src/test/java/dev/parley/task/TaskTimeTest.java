package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
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
    var now = new AtomicReference<>(Instant.parse("2026-11-15T10:00:00Z"));
    var log = new MemoryLog(now::get);
    log.create(TaskTestBed.CONTEXT, new ContextCreated("local", null, null));
    var agent =
        new Asker() {
          @Override
          void beforeAsking() {
            now.updateAndGet(before -> before.plus(Duration.ofHours(10)));
          }

          @Override
          String afterwards(TaskRun taskRun) {
            return "%d h left".formatted(Duration.between(now.get(), taskRun.deadline()).toHours());
          }
        };
    var taskSettings =
        new Tasks.TaskSettings(
            new AgentDirectory(Map.of(TaskTestBed.AGENT, agent), TaskTestBed.AGENT),
            new Workspaces(List.of(folder)),
            TaskLimits.DEFAULT,
            FailPoint.NONE);
    var clockAndIds = new ClockAndIds(now::get, () -> UUID.randomUUID().toString());
    try (var tasks = new Tasks(log, new LogHistory(log), taskSettings, clockAndIds)) {
      tasks.submit(
          TaskTestBed.submission("a", TaskTestBed.timeout(Duration.ofHours(3).toMillis())));
      await(log, e -> e.event() instanceof TaskStatus s && s.status() == TaskState.WAITING_INPUT);
      tasks.answer(
          TaskTestBed.CONTEXT,
          INPUT,
          StringNode.valueOf("me"),
          Answerer.trusted("local"),
          AppendGuard.none());

      var end = await(log, e -> TaskTestBed.terminal(e.event()));
      assertThat(((TaskComplete) end.event()).content()).isEqualTo("2 h left");
    }
  }

  private static Entry await(MemoryLog log, Predicate<Entry> wanted) throws InterruptedException {
    while (true) {
      var head = log.head(TaskTestBed.CONTEXT);
      for (var entry : log.read(TaskTestBed.CONTEXT, Position.START, 10_000)) {
        if (wanted.test(entry)) {
          return entry;
        }
      }
      assertThat(log.await(TaskTestBed.CONTEXT, head, Duration.ofSeconds(20))).isTrue();
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
    try (var taskTestBed = TaskTestBed.with(agent, folder)) {
      var task = taskTestBed.submit("a").taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.events(task, InputLapsed.class)).hasSize(1);
    }
  }

  @Test
  void a_timer_that_is_due_while_its_key_is_set_again_leaves_the_new_one_alone() throws Exception {
    try (var timers = new Timers()) {
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
