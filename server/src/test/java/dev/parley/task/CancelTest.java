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
    try (var world = World.with(new Gate(), folder)) {
      var task = world.say("a").taskId();
      world.awaitKind(task, Kind.CONTENT_DELTA);

      world.tasks().cancel(World.CONTEXT, task, "local", "changed my mind");

      assertThat(world.end(task)).isEqualTo(TaskState.CANCELED);
      assertThat(world.reason(task)).isEqualTo("changed my mind");
      assertThat(world.kinds(task))
          .containsExactly(
              Kind.TASK_CREATED,
              Kind.TASK_STATUS,
              Kind.CONTENT_DELTA,
              Kind.CONTENT_DELTA,
              Kind.CANCEL_REQUESTED,
              Kind.CONTENT_COMPLETE,
              Kind.MESSAGE,
              Kind.TASK_STATUS);
      var block = world.events(task, ContentComplete.class).getFirst();
      assertThat(block.content()).isEqualTo("half of it");
      assertThat(block.partial()).isTrue();
      assertThat(block.finishReason()).isEqualTo(FinishReason.CANCELED);
      assertThat(world.answer(task).content()).isEqualTo("half of it");
      assertThat(world.answer(task).metadata().path("partial").asBoolean()).isTrue();
    }
  }

  @Test
  void canceling_twice_or_after_the_end_changes_nothing() throws Exception {
    try (var world = World.with(new Gate(), folder)) {
      var task = world.say("a").taskId();
      world.awaitKind(task, Kind.CONTENT_DELTA);
      world.tasks().cancel(World.CONTEXT, task, "local", null);
      world.tasks().cancel(World.CONTEXT, task, "local", null);
      world.end(task);
      var before = world.entries();

      world.tasks().cancel(World.CONTEXT, task, "local", null);

      assertThat(world.entries()).isEqualTo(before);
      assertThat(world.kinds(task)).containsOnlyOnce(Kind.CANCEL_REQUESTED);
    }
  }

  @Test
  void an_unknown_task_is_not_found() {
    try (var world = World.with(new Gate(), folder)) {
      assertThatThrownBy(
              () -> world.tasks().cancel(World.CONTEXT, new TaskId("none"), "local", null))
          .isInstanceOf(Rejection.NotFound.class);
    }
  }

  @Test
  void a_queued_task_ends_in_the_append_that_cancels_it() throws Exception {
    try (var world = World.with(new Gate(), folder)) {
      var first = world.say("a").taskId();
      world.awaitKind(first, Kind.CONTENT_DELTA);
      var second = world.say("b").taskId();

      world.tasks().cancel(World.CONTEXT, second, "local", null);

      assertThat(world.kinds(second))
          .containsExactly(
              Kind.TASK_CREATED, Kind.TASK_STATUS, Kind.CANCEL_REQUESTED, Kind.TASK_STATUS);
      assertThat(world.end(second)).isEqualTo(TaskState.CANCELED);
    }
  }

  @Test
  void open_tool_calls_end_with_their_task() throws Exception {
    var started = new CountDownLatch(1);
    Agent agent =
        run -> {
          run.emit(List.of(start(CALL)));
          started.countDown();
          new CountDownLatch(1).await();
          throw new AssertionError();
        };
    try (var world = World.with(agent, folder)) {
      var task = world.say("a").taskId();
      started.await();
      world.tasks().cancel(World.CONTEXT, task, "local", null);
      world.end(task);

      var complete = world.events(task, ToolComplete.class).getFirst();
      assertThat(complete.success()).isFalse();
      assertThat(complete.error()).isEqualTo("canceled");
      assertThat(complete.outcome()).isEqualTo(ToolEvent.Outcome.CANCELED);
    }
  }

  @Test
  void a_task_that_does_not_heed_is_ended_all_the_same_and_the_next_one_runs() throws Exception {
    var release = new CountDownLatch(1);
    Agent deaf =
        run -> {
          if ("deaf".equals(run.created().prompt())) {
            var block = run.sources().blockId();
            run.emit(List.of(new ContentDelta("la", 0, block)));
            awaitDeaf(release);
            run.emit(List.of(new ContentDelta("too late", 1, block)));
          }
          return new Outcome.Completed("ok");
        };
    var limits = World.limits(10, 10, Duration.ofMillis(50));
    try (var world = World.with(World.newLog(), deaf, folder, limits)) {
      var first = world.say("deaf").taskId();
      world.awaitKind(first, Kind.CONTENT_DELTA);
      var second = world.say("good").taskId();
      world.tasks().cancel(World.CONTEXT, first, "local", null);

      assertThat(world.end(first)).isEqualTo(TaskState.CANCELED);
      assertThat(world.end(second)).isEqualTo(TaskState.COMPLETED);
      release.countDown();
      assertThat(world.events(first, ContentDelta.class)).hasSize(1);
    }
  }

  @Test
  void a_task_that_takes_too_long_is_stopped_and_says_so() throws Exception {
    try (var world = World.with(new Gate(), folder)) {
      var task = world.tasks().submit(World.submission("a", World.timeout(20))).taskId();

      assertThat(world.end(task)).isEqualTo(TaskState.FAILED);
      assertThat(world.reason(task)).isEqualTo("timeout");
      var error = world.events(task, ErrorReported.class).getFirst();
      assertThat(error.code()).isEqualTo(ErrorCode.TIMEOUT);
      assertThat(World.terminal(world.events(task).getLast())).isTrue();
    }
  }

  @Test
  void cancel_racing_with_completion_yields_exactly_one_end() throws Exception {
    var gate = new Gate();
    try (var world = World.with(gate, folder)) {
      for (var i = 0; i < 300; i++) {
        var prompt = "p" + i;
        var task = world.say(prompt).taskId();
        world.awaitKind(task, Kind.CONTENT_DELTA);
        var opener = Thread.ofVirtual().start(() -> gate.open(prompt));
        world.tasks().cancel(World.CONTEXT, task, "local", null);
        opener.join();
        world.end(task);

        assertThat(world.events(task).stream().filter(World::terminal)).hasSize(1);
        assertThat(World.terminal(world.events(task).getLast())).isTrue();
      }
    }
  }

  @Test
  void canceling_all_returns_when_every_task_has_ended() throws Exception {
    try (var world = World.with(new Gate(), folder)) {
      var first = world.say("a").taskId();
      world.awaitKind(first, Kind.CONTENT_DELTA);
      var second = world.say("b").taskId();

      world.tasks().cancelAll(World.CONTEXT, "deleted", null);

      assertThat(world.log().withOpenTasks()).isEmpty();
      assertThat(world.reason(first)).isEqualTo("deleted");
      assertThat(world.reason(second)).isEqualTo("deleted");
    }
  }

  @Test
  void one_tool_call_can_be_ended_and_its_task_goes_on() throws Exception {
    var started = new CountDownLatch(1);
    var canceled = new CountDownLatch(1);
    Agent agent =
        run -> {
          run.emit(List.of(start(CALL)));
          run.enterCall(CALL, canceled::countDown);
          started.countDown();
          canceled.await();
          return new Outcome.Completed("went on");
        };
    try (var world = World.with(agent, folder)) {
      var task = world.say("a").taskId();
      started.await();
      world.tasks().cancelTool(World.CONTEXT, task, CALL, "ada");

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      var complete = world.events(task, ToolComplete.class);
      assertThat(complete).hasSize(1);
      assertThat(complete.getFirst().error()).isEqualTo("canceled");
      assertThatThrownBy(() -> world.tasks().cancelTool(World.CONTEXT, task, CALL, "ada"))
          .isInstanceOf(Rejection.NotFound.class);
    }
  }

  private static void awaitDeaf(CountDownLatch latch) {
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
