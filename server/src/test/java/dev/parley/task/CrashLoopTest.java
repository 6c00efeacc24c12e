package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.AppendGuard;
import dev.parley.log.LimitedAppendLog;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Tasks that crash the server, and contexts that cannot be recovered.
@Timeout(120)
class CrashLoopTest {

  private static final ContextId OTHER = new ContextId("other");
  private static final TaskLimits LIMITS = TaskTestBed.limits(10, 10, Duration.ofSeconds(20));

  @TempDir Path folder;

  private final MemoryLog log = TaskTestBed.newLog();
  private final AtomicReference<CountDownLatch> atWork = new AtomicReference<>();

  /// A task `kill` works until its server ends; a task `done` ends as soon as no other task runs.
  private Agent agent() {
    return new Agent() {
      @Override
      public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
        if ("kill".equals(taskRun.created().prompt())) {
          atWork.get().countDown();
          new CountDownLatch(1).await();
        }
        return new TaskOutcome.Completed("done");
      }

      @Override
      public boolean resumes() {
        return true;
      }
    };
  }

  /// Starts a server on the log and ends it abruptly once the task is working.
  private void crash(boolean first) throws InterruptedException {
    atWork.set(new CountDownLatch(1));
    var frozen =
        new LimitedAppendLog(log, Integer.MAX_VALUE, () -> new Rejection.Conflict("dead", "dead"));
    try (var taskTestBed = TaskTestBed.with(frozen, agent(), folder, LIMITS)) {
      if (first) {
        taskTestBed.submit("kill");
      } else {
        taskTestBed.tasks().recover();
      }
      atWork.get().await();
      frozen.allow(0);
    }
  }

  @Test
  void a_task_that_ends_the_server_again_and_again_fails_as_crashed() throws Exception {
    crash(true);
    for (var recovery = 1; recovery <= Tasks.RECOVERIES_MAX; recovery++) {
      crash(false);
    }
    try (var taskTestBed = TaskTestBed.with(log, agent(), folder, LIMITS)) {
      taskTestBed.tasks().recover();

      var end = taskTestBed.await(e -> TaskTestBed.terminal(e.event()));
      assertThat(((TaskStatus) end.event()).status()).isEqualTo(TaskState.FAILED);
      var error = (ErrorReported) await(e -> e.event() instanceof ErrorReported).event();
      assertThat(error.code()).isEqualTo(ErrorCode.CRASHED);
      assertThat(error.code().wire()).isEqualTo("crashed");
      assertThat(error.retryable()).isFalse();
      // The context accepts the next message.
      assertThat(taskTestBed.awaitEnd(taskTestBed.submit("next").taskId()))
          .isEqualTo(TaskState.COMPLETED);
    }
  }

  @Test
  void a_server_that_stops_in_good_order_is_no_crash() throws Exception {
    crash(true);
    for (var stop = 1; stop <= Tasks.RECOVERIES_MAX + 2; stop++) {
      atWork.set(new CountDownLatch(1));
      try (var taskTestBed = TaskTestBed.with(log, agent(), folder, LIMITS)) {
        taskTestBed.tasks().recover();
        atWork.get().await();
      }
    }

    assertThat(events().stream().noneMatch(TaskTestBed::terminal)).isTrue();
    assertThat(events().stream().filter(CrashLoopTest::handedBack)).hasSize(5);
  }

  private static boolean handedBack(Event event) {
    return event instanceof TaskStatus s && s.metadata() != null && s.metadata().has("handedBack");
  }

  @Test
  void a_context_that_cannot_be_taken_up_is_refused_and_the_others_go_on() throws Exception {
    log.create(OTHER, new ContextCreated("local", null, null));
    var frozen =
        new LimitedAppendLog(log, Integer.MAX_VALUE, () -> new Rejection.Conflict("dead", "dead"));
    atWork.set(new CountDownLatch(2));
    try (var taskTestBed = TaskTestBed.with(frozen, agent(), folder, LIMITS)) {
      taskTestBed.submit("kill");
      taskTestBed
          .tasks()
          .submit(
              new Submission(
                  OTHER, "local", "kill", null, Submission.TaskOptions.NONE, AppendGuard.none()));
      atWork.get().await();
      frozen.allow(0);
    }
    Agent done =
        new Agent() {
          @Override
          public TaskOutcome work(TaskRun taskRun) {
            return new TaskOutcome.Completed("done");
          }

          @Override
          public boolean resumes() {
            return true;
          }
        };
    var partly = new UnreadableContextLog(log, OTHER);
    try (var taskTestBed =
        TaskTestBed.with(partly.log(), Map.of(TaskTestBed.AGENT, done), folder, LIMITS)) {
      taskTestBed.tasks().recover();

      assertThat(await(e -> e.event() instanceof TaskComplete)).isNotNull();
      assertThatThrownBy(
              () ->
                  taskTestBed
                      .tasks()
                      .submit(
                          new Submission(
                              OTHER,
                              "local",
                              "hi",
                              null,
                              Submission.TaskOptions.NONE,
                              AppendGuard.none())))
          .isInstanceOfSatisfying(
              Rejection.Damaged.class, d -> assertThat(d.code()).isEqualTo("context-damaged"))
          .hasMessageContaining("other");
      assertThat(taskTestBed.awaitEnd(taskTestBed.submit("next").taskId()))
          .isEqualTo(TaskState.COMPLETED);
    }
  }

  private List<Event> events() {
    return log.read(TaskTestBed.CONTEXT, Position.START, 10_000).stream()
        .map(Entry::event)
        .toList();
  }

  private Entry await(Predicate<Entry> wanted) throws InterruptedException {
    while (true) {
      var head = log.head(TaskTestBed.CONTEXT);
      var found =
          log.read(TaskTestBed.CONTEXT, Position.START, 10_000).stream().filter(wanted).findAny();
      if (found.isPresent()) {
        return found.get();
      }
      assertThat(log.await(TaskTestBed.CONTEXT, head, Duration.ofSeconds(20))).isTrue();
    }
  }
}
