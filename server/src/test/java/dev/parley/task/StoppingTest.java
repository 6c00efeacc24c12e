package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.runtime.ManualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.StringNode;

/// Tasks that are canceled while they wait for a slot, and tasks that others could starve.
@Timeout(60)
class StoppingTest {

  private static final ContextId OTHER = new ContextId("other");
  private static final InputId INPUT = new InputId("i");

  @TempDir Path folder;

  /// Asks one question, waits for the answer without a thread, and completes.
  private static Agent asking(CountDownLatch holding, CountDownLatch hold) {
    return new Agent() {
      @Override
      public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
        if ("hold".equals(taskRun.created().prompt())) {
          holding.countDown();
          hold.await();
          return new TaskOutcome.Completed("held");
        }
        var news = taskRun.readNewEntries();
        if (news.stream().anyMatch(e -> e.event() instanceof InputReceived)) {
          return new TaskOutcome.Completed("answered");
        }
        if (news.stream().noneMatch(e -> e.event() instanceof InputRequired)) {
          taskRun.emit(
              List.of(
                  new InputRequired(
                      INPUT, true, InputType.CLARIFICATION, "who?", null, null, null, null)));
        }
        return new TaskOutcome.Parked(TaskState.WAITING_INPUT, Json.object());
      }

      @Override
      public boolean resumes() {
        return true;
      }
    };
  }

  @Test
  void a_task_that_is_canceled_while_it_waits_for_a_place_ends_at_once() throws Exception {
    var holding = new CountDownLatch(1);
    var hold = new CountDownLatch(1);
    var log = TaskTestBed.newLog();
    log.create(OTHER, new ContextCreated("local", null, null));
    try (var taskTestBed =
        TaskTestBed.with(
            log, asking(holding, hold), folder, TaskTestBed.limits(1, 10, Duration.ofSeconds(5)))) {
      var task = taskTestBed.submit("ask").taskId();
      taskTestBed.await(e -> waits(e.event()));
      // The other task takes the only slot and keeps it.
      var holder =
          taskTestBed
              .tasks()
              .submit(
                  new Submission(
                      OTHER,
                      "local",
                      "hold",
                      null,
                      Submission.TaskOptions.NONE,
                      AppendGuard.none()));
      holding.await();
      taskTestBed
          .tasks()
          .answer(
              TaskTestBed.CONTEXT,
              INPUT,
              StringNode.valueOf("me"),
              Answerer.trusted("local"),
              AppendGuard.none());

      taskTestBed.tasks().cancelAll(TaskTestBed.CONTEXT, "not needed", null);

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.CANCELED);
      assertThat(log.<Boolean>inspect(OTHER, s -> s.openTask(holder.taskId()).isPresent()))
          .isTrue();
      assertThat(taskTestBed.tasks().running()).isOne();
      hold.countDown();
      awaitIdle(taskTestBed, OTHER);
    }
  }

  private static boolean waits(Event event) {
    return event instanceof TaskStatus status && status.status() == TaskState.WAITING_INPUT;
  }

  @Test
  void a_task_of_low_priority_gets_a_place_while_urgent_ones_keep_coming() throws Exception {
    var hold = new CountDownLatch(1);
    var order = new CopyOnWriteArrayList<String>();
    var log = TaskTestBed.newLog();
    Agent agent =
        taskRun -> {
          hold.await();
          order.add(taskRun.created().prompt());
          return new TaskOutcome.Completed("ok");
        };
    try (var taskTestBed =
        TaskTestBed.with(log, agent, folder, TaskTestBed.limits(1, 100, Duration.ofSeconds(5)))) {
      taskTestBed.submit("first");
      taskTestBed.await(e -> e.event() instanceof TaskStatus);
      submit(taskTestBed, "low", Priority.LOW);
      for (var i = 0; i < 30; i++) {
        submit(taskTestBed, "urgent-" + i, Priority.CRITICAL);
      }
      hold.countDown();
      for (var i = 0; i < 30; i++) {
        awaitIdle(taskTestBed, new ContextId("urgent-" + i));
      }
      awaitIdle(taskTestBed, new ContextId("low"));

      assertThat(order.indexOf("low")).isBetween(1, 2 * RunQueue.FAIR_TURN);
      assertThat(order.indexOf("urgent-0")).isLessThan(order.indexOf("low"));
    }
  }

  private static void submit(TaskTestBed taskTestBed, String name, Priority priority) {
    var context = new ContextId(name);
    taskTestBed.log().create(context, new ContextCreated("local", null, null));
    var taskOptions = new Submission.TaskOptions(null, null, priority, null, null, null, null);
    taskTestBed
        .tasks()
        .submit(new Submission(context, "local", name, null, taskOptions, AppendGuard.none()));
  }

  private static void awaitIdle(TaskTestBed taskTestBed, ContextId context)
      throws InterruptedException {
    for (var head = taskTestBed.log().head(context);
        taskTestBed.log().inspect(context, state -> !state.openTasks().isEmpty());
        head = taskTestBed.log().head(context)) {
      assertThat(taskTestBed.log().await(context, head, Duration.ofSeconds(20))).isTrue();
    }
  }

  @Test
  void a_task_that_calls_a_tool_may_run_on_when_another_server_takes_over() throws Exception {
    var started = new CountDownLatch(2);
    var tool = new CountDownLatch(1);
    Agent agent =
        new Agent() {
          @Override
          public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
            if ("call".equals(taskRun.created().prompt())) {
              taskRun.calls().register(new ToolCallId("call"), () -> {});
              started.countDown();
              tool.await();
              return new TaskOutcome.Completed("called");
            }
            started.countDown();
            new CountDownLatch(1).await();
            throw new AssertionError();
          }

          @Override
          public boolean resumes() {
            return true;
          }
        };
    var time = new ManualTime();
    var log = TaskTestBed.newLog(time);
    log.create(OTHER, new ContextCreated("local", null, null));
    try (var taskTestBed = TaskTestBed.with(log, agent, folder, TaskLimits.DEFAULT)) {
      var calling = taskTestBed.submit("call").taskId();
      taskTestBed
          .tasks()
          .submit(
              new Submission(
                  OTHER, "local", "think", null, Submission.TaskOptions.NONE, AppendGuard.none()));
      started.await();

      var handedOver =
          ManualTime.start(
              "stop",
              () -> {
                taskTestBed.tasks().handOver(Duration.ofSeconds(4));
                return true;
              });
      time.awaitWait("stop");
      var head = Position.START;
      while (log.read(OTHER, Position.START, 100).stream()
          .noneMatch(entry -> isHandedBack(entry.event()))) {
        log.await(OTHER, head, Duration.ofSeconds(20));
        head = log.head(OTHER);
      }
      assertThat(handedOver.isDone()).isFalse();
      tool.countDown();

      assertThat(taskTestBed.awaitEnd(calling)).isEqualTo(TaskState.COMPLETED);
      handedOver.get();
    }
  }

  private static boolean isHandedBack(Event event) {
    return event instanceof TaskStatus s && s.metadata() != null && s.metadata().has("handedBack");
  }

  @Test
  void a_hosted_task_that_streams_without_pause_ends_when_it_is_canceled() throws Exception {
    for (var round = 0; round < 10; round++) {
      var child = new TaskId("child");
      var stopped = new CountDownLatch(1);
      Agent host =
          taskRun -> {
            var call = new ToolCallId("call");
            var start = new ToolStart(call, "sub", Json.object(), null, null, null, null, null);
            var hostedSubtask =
                taskRun
                    .spawner()
                    .createHosted(
                        taskRun,
                        new SubtaskSpawner.SpawningCall(
                            call, new InvocationId("inv"), List.of(start)),
                        new SubtaskSpawner.SubtaskRequest(
                            child, new AgentTypeId("sub"), "talk", null));
            var block = taskRun.sources().blockId();
            for (var i = 0; hostedSubtask.emit(List.of(new ContentDelta("word ", i, block))); i++) {
              Thread.onSpinWait();
            }
            stopped.countDown();
            new CountDownLatch(1).await();
            throw new AssertionError();
          };
      try (var taskTestBed = TaskTestBed.with(host, folder)) {
        var root = taskTestBed.submit("go").taskId();
        taskTestBed.await(
            e ->
                child.equals(e.taskId()) && e.event() instanceof ContentDelta d && d.index() > 200);

        taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, child, "local", null);

        assertThat(taskTestBed.awaitEnd(child)).isEqualTo(TaskState.CANCELED);
        stopped.await();
        var kinds = taskTestBed.kinds(child);
        // No text follows the cancellation request.
        assertThat(kinds.subList(kinds.indexOf(Kind.CANCEL_REQUESTED), kinds.size()))
            .doesNotContain(Kind.CONTENT_DELTA);
        taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, root, "local", null);
        assertThat(taskTestBed.awaitEnd(root)).isEqualTo(TaskState.CANCELED);
      }
    }
  }

  @Test
  void a_rollback_that_is_sent_twice_under_one_key_makes_one_task_and_leaves_it_alone()
      throws Exception {
    var gatedAgent = new GatedAgent();
    var first = new CountDownLatch(1);
    var reached = new CountDownLatch(1);
    var arrivals = new AtomicInteger();
    FailPoint pause =
        place -> {
          if (place.equals("before-rollback-cancel") && arrivals.getAndIncrement() == 0) {
            reached.countDown();
            awaitQuietly(first);
          }
        };
    try (var taskTestBed =
        TaskTestBed.with(
            TaskTestBed.newLog(),
            Map.of(TaskTestBed.AGENT, gatedAgent),
            folder,
            TaskLimits.DEFAULT,
            pause)) {
      var a = taskTestBed.submit("a").taskId();
      taskTestBed.awaitKind(a, Kind.CONTENT_DELTA);
      var submission =
          new Submission(
              TaskTestBed.CONTEXT,
              "local",
              "b",
              null,
              TaskTestBed.options(WhenBusy.ROLLBACK),
              new AppendGuard.IdempotencyKey("local", "key", "hash"));
      var late = new FutureTask<>(() -> taskTestBed.tasks().submit(submission));
      Thread.ofVirtual().start(late);
      reached.await();
      // Sent again while the first request is in progress: the second one finishes first.
      var acceptedMessage = taskTestBed.tasks().submit(submission);
      taskTestBed.awaitKind(acceptedMessage.taskId(), Kind.CONTENT_DELTA);
      first.countDown();

      assertThat(late.get()).isEqualTo(acceptedMessage);
      gatedAgent.open("b");
      assertThat(taskTestBed.awaitEnd(acceptedMessage.taskId())).isEqualTo(TaskState.COMPLETED);
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
