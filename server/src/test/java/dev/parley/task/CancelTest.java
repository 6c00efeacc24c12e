package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.runtime.ManualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CancelTest {

  private static final ToolCallId CALL = new ToolCallId("call");

  @TempDir Path folder;

  @Test
  void a_canceled_task_keeps_what_it_said_and_ends_once() throws Exception {
    try (var taskTestBed = TaskTestBed.with(new GatedAgent(), folder)) {
      var task = taskTestBed.submit("a").taskId();
      taskTestBed.awaitKind(task, Kind.CONTENT_DELTA);

      taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", "changed my mind");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.CANCELED);
      assertThat(taskTestBed.reason(task)).isEqualTo("changed my mind");
      assertThat(taskTestBed.kinds(task))
          .containsExactly(
              Kind.TASK_CREATED,
              Kind.TASK_STATUS,
              Kind.CONTENT_DELTA,
              Kind.CONTENT_DELTA,
              Kind.CANCEL_REQUESTED,
              Kind.CONTENT_COMPLETE,
              Kind.MESSAGE,
              Kind.TASK_STATUS);
      var block = taskTestBed.events(task, ContentComplete.class).getFirst();
      assertThat(block.content()).isEqualTo("half of it");
      assertThat(block.partial()).isTrue();
      assertThat(block.finishReason()).isEqualTo(FinishReason.CANCELED);
      assertThat(taskTestBed.answer(task).content()).isEqualTo("half of it");
      assertThat(taskTestBed.answer(task).metadata().path("partial").asBoolean()).isTrue();
    }
  }

  @Test
  void canceling_twice_or_after_the_end_changes_nothing() throws Exception {
    try (var taskTestBed = TaskTestBed.with(new GatedAgent(), folder)) {
      var task = taskTestBed.submit("a").taskId();
      taskTestBed.awaitKind(task, Kind.CONTENT_DELTA);
      taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);
      taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);
      taskTestBed.awaitEnd(task);
      var before = taskTestBed.entries();

      taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);

      assertThat(taskTestBed.entries()).isEqualTo(before);
      assertThat(taskTestBed.kinds(task)).containsOnlyOnce(Kind.CANCEL_REQUESTED);
    }
  }

  @Test
  void an_unknown_task_is_not_found() {
    try (var taskTestBed = TaskTestBed.with(new GatedAgent(), folder)) {
      assertThatThrownBy(
              () ->
                  taskTestBed
                      .tasks()
                      .cancel(TaskTestBed.CONTEXT, new TaskId("none"), "local", null))
          .isInstanceOf(Rejection.NotFound.class);
    }
  }

  @Test
  void a_queued_task_ends_in_the_append_that_cancels_it() throws Exception {
    try (var taskTestBed = TaskTestBed.with(new GatedAgent(), folder)) {
      var first = taskTestBed.submit("a").taskId();
      taskTestBed.awaitKind(first, Kind.CONTENT_DELTA);
      var second = taskTestBed.submit("b").taskId();

      taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, second, "local", null);

      assertThat(taskTestBed.kinds(second))
          .containsExactly(
              Kind.TASK_CREATED, Kind.TASK_STATUS, Kind.CANCEL_REQUESTED, Kind.TASK_STATUS);
      assertThat(taskTestBed.awaitEnd(second)).isEqualTo(TaskState.CANCELED);
    }
  }

  @Test
  void open_tool_calls_end_with_their_task() throws Exception {
    var started = new CountDownLatch(1);
    Agent agent =
        taskRun -> {
          taskRun.emit(List.of(start(CALL)));
          started.countDown();
          new CountDownLatch(1).await();
          throw new AssertionError();
        };
    try (var taskTestBed = TaskTestBed.with(agent, folder)) {
      var task = taskTestBed.submit("a").taskId();
      started.await();
      taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);
      taskTestBed.awaitEnd(task);

      var complete = taskTestBed.events(task, ToolComplete.class).getFirst();
      assertThat(complete.success()).isFalse();
      assertThat(complete.error()).isEqualTo("canceled");
      assertThat(complete.outcome()).isEqualTo(ToolEvent.Outcome.CANCELED);
    }
  }

  @Test
  void a_task_that_ignores_cancellation_is_ended_anyway_and_the_next_one_runs() throws Exception {
    var release = new CountDownLatch(1);
    Agent deaf =
        taskRun -> {
          if ("deaf".equals(taskRun.created().prompt())) {
            var block = taskRun.sources().blockId();
            taskRun.emit(List.of(new ContentDelta("la", 0, block)));
            awaitUninterruptibly(release);
            taskRun.emit(List.of(new ContentDelta("too late", 1, block)));
          }
          return new TaskOutcome.Completed("ok");
        };
    var time = new ManualTime();
    var taskLimits = TaskTestBed.limits(10, 10, Duration.ofSeconds(5));
    try (var taskTestBed = TaskTestBed.with(TaskTestBed.newLog(time), deaf, folder, taskLimits)) {
      var first = taskTestBed.submit("deaf").taskId();
      taskTestBed.awaitKind(first, Kind.CONTENT_DELTA);
      var second = taskTestBed.submit("good").taskId();
      taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, first, "local", null);
      assertThat(time.awaitTimer("TaskRun")).isEqualTo(Duration.ofSeconds(5));
      time.advanceToTimer("TaskRun");

      assertThat(taskTestBed.awaitEnd(first)).isEqualTo(TaskState.CANCELED);
      assertThat(taskTestBed.awaitEnd(second)).isEqualTo(TaskState.COMPLETED);
      release.countDown();
      assertThat(taskTestBed.events(first, ContentDelta.class)).hasSize(1);
    }
  }

  @Test
  void a_task_that_takes_too_long_is_stopped_and_says_so() throws Exception {
    var time = new ManualTime();
    try (var taskTestBed =
        TaskTestBed.with(TaskTestBed.newLog(time), new GatedAgent(), folder, TaskLimits.DEFAULT)) {
      var task =
          taskTestBed.tasks().submit(TaskTestBed.submission("a", TaskTestBed.timeout(20))).taskId();
      taskTestBed.awaitKind(task, Kind.CONTENT_DELTA);
      time.advance(Duration.ofMillis(19));
      assertThat(taskTestBed.events(task).stream().filter(TaskTestBed::terminal)).isEmpty();
      time.advance(Duration.ofMillis(1));

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(taskTestBed.reason(task)).isEqualTo("timeout");
      var error = taskTestBed.events(task, ErrorReported.class).getFirst();
      assertThat(error.code()).isEqualTo(ErrorCode.TIMEOUT);
      assertThat(TaskTestBed.terminal(taskTestBed.events(task).getLast())).isTrue();
    }
  }

  @Test
  void cancel_racing_with_completion_yields_exactly_one_end() throws Exception {
    var gatedAgent = new GatedAgent();
    try (var taskTestBed = TaskTestBed.with(gatedAgent, folder)) {
      for (var i = 0; i < 300; i++) {
        var prompt = "p" + i;
        var task = taskTestBed.submit(prompt).taskId();
        taskTestBed.awaitKind(task, Kind.CONTENT_DELTA);
        var opener = Thread.ofVirtual().start(() -> gatedAgent.open(prompt));
        taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);
        opener.join();
        taskTestBed.awaitEnd(task);

        assertThat(taskTestBed.events(task).stream().filter(TaskTestBed::terminal)).hasSize(1);
        assertThat(TaskTestBed.terminal(taskTestBed.events(task).getLast())).isTrue();
      }
    }
  }

  @Test
  void canceling_all_returns_when_every_task_has_ended() throws Exception {
    try (var taskTestBed = TaskTestBed.with(new GatedAgent(), folder)) {
      var first = taskTestBed.submit("a").taskId();
      taskTestBed.awaitKind(first, Kind.CONTENT_DELTA);
      var second = taskTestBed.submit("b").taskId();

      taskTestBed.tasks().cancelAll(TaskTestBed.CONTEXT, "deleted", null);

      assertThat(taskTestBed.log().withOpenTasks()).isEmpty();
      assertThat(taskTestBed.reason(first)).isEqualTo("deleted");
      assertThat(taskTestBed.reason(second)).isEqualTo("deleted");
    }
  }

  @Test
  void one_tool_call_can_be_ended_and_its_task_goes_on() throws Exception {
    var started = new CountDownLatch(1);
    var canceled = new CountDownLatch(1);
    Agent agent =
        taskRun -> {
          taskRun.emit(List.of(start(CALL)));
          taskRun.calls().register(CALL, canceled::countDown);
          started.countDown();
          canceled.await();
          return new TaskOutcome.Completed("went on");
        };
    try (var taskTestBed = TaskTestBed.with(agent, folder)) {
      var task = taskTestBed.submit("a").taskId();
      started.await();
      taskTestBed.tasks().cancelTool(TaskTestBed.CONTEXT, task, CALL, "ada");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      var complete = taskTestBed.events(task, ToolComplete.class);
      assertThat(complete).hasSize(1);
      assertThat(complete.getFirst().error()).isEqualTo("canceled");
      assertThatThrownBy(
              () -> taskTestBed.tasks().cancelTool(TaskTestBed.CONTEXT, task, CALL, "ada"))
          .isInstanceOf(Rejection.NotFound.class);
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    while (true) {
      try {
        latch.await();
        return;
      } catch (InterruptedException ignored) {
        // Ignores the interrupt on purpose.
      }
    }
  }

  private static ToolStart start(ToolCallId call) {
    return new ToolStart(call, "tool", Json.object(), null, null, null, null, null);
  }
}
