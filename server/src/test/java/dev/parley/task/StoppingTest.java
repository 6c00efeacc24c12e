package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.Guard;
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
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolStart;
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
  private static Agent asking(CountDownLatch hold) {
    return new Agent() {
      @Override
      public Outcome work(Run run) throws InterruptedException {
        if ("hold".equals(run.created().prompt())) {
          hold.await();
          return new Outcome.Completed("held");
        }
        var news = run.news();
        if (news.stream().anyMatch(e -> e.event() instanceof InputReceived)) {
          return new Outcome.Completed("answered");
        }
        if (news.stream().noneMatch(e -> e.event() instanceof InputRequired)) {
          run.emit(
              List.of(
                  new InputRequired(
                      INPUT, true, InputType.CLARIFICATION, "who?", null, null, null, null)));
        }
        return new Outcome.Parked(TaskState.WAITING_INPUT, Json.object());
      }

      @Override
      public boolean resumes() {
        return true;
      }
    };
  }

  @Test
  void a_task_that_is_canceled_while_it_waits_for_a_place_ends_at_once() throws Exception {
    var hold = new CountDownLatch(1);
    var log = World.newLog();
    log.create(OTHER, new ContextCreated("local", null, null));
    try (var world =
        World.with(log, asking(hold), folder, World.limits(1, 10, Duration.ofSeconds(5)))) {
      var task = world.say("ask").taskId();
      world.await(e -> waits(e.event()));
      // The other task takes the only slot and keeps it.
      var holder =
          world
              .tasks()
              .submit(
                  new Submission(
                      OTHER, "local", "hold", null, Submission.Options.NONE, Guard.none()));
      while (world.tasks().running() == 0 || log.head(OTHER).seq() < 4) {
        log.await(OTHER, log.head(OTHER), Duration.ofMillis(100));
      }
      world
          .tasks()
          .answer(
              World.CONTEXT,
              INPUT,
              StringNode.valueOf("me"),
              Answerer.trusted("local"),
              Guard.none());

      world.tasks().cancelAll(World.CONTEXT, "not needed", null);

      assertThat(world.end(task)).isEqualTo(TaskState.CANCELED);
      assertThat(log.<Boolean>inspect(OTHER, s -> s.openTask(holder.taskId()).isPresent()))
          .isTrue();
      assertThat(world.tasks().running()).isOne();
      hold.countDown();
      while (log.inspect(OTHER, state -> !state.openTasks().isEmpty())) {
        log.await(OTHER, log.head(OTHER), Duration.ofMillis(100));
      }
    }
  }

  private static boolean waits(Event event) {
    return event instanceof TaskStatus status && status.status() == TaskState.WAITING_INPUT;
  }

  @Test
  void a_task_of_low_priority_gets_a_place_while_urgent_ones_keep_coming() throws Exception {
    var hold = new CountDownLatch(1);
    var order = new CopyOnWriteArrayList<String>();
    var log = World.newLog();
    Agent agent =
        run -> {
          hold.await();
          order.add(run.created().prompt());
          return new Outcome.Completed("ok");
        };
    try (var world = World.with(log, agent, folder, World.limits(1, 100, Duration.ofSeconds(5)))) {
      world.say("first");
      world.await(e -> e.event() instanceof TaskStatus);
      submit(world, "low", Priority.LOW);
      for (var i = 0; i < 30; i++) {
        submit(world, "urgent-" + i, Priority.CRITICAL);
      }
      hold.countDown();
      for (var i = 0; i < 30; i++) {
        awaitIdle(world, new ContextId("urgent-" + i));
      }
      awaitIdle(world, new ContextId("low"));

      assertThat(order.indexOf("low")).isBetween(1, 2 * Board.FAIR_TURN);
      assertThat(order.indexOf("urgent-0")).isLessThan(order.indexOf("low"));
    }
  }

  private static void submit(World world, String name, Priority priority) {
    var context = new ContextId(name);
    world.log().create(context, new ContextCreated("local", null, null));
    var options = new Submission.Options(null, null, priority, null, null, null, null);
    world.tasks().submit(new Submission(context, "local", name, null, options, Guard.none()));
  }

  private static void awaitIdle(World world, ContextId context) throws InterruptedException {
    for (var head = world.log().head(context);
        world.log().inspect(context, state -> !state.openTasks().isEmpty());
        head = world.log().head(context)) {
      assertThat(world.log().await(context, head, Duration.ofSeconds(20))).isTrue();
    }
  }

  @Test
  void a_hosted_task_that_streams_without_pause_ends_when_it_is_canceled() throws Exception {
    for (var round = 0; round < 10; round++) {
      var child = new TaskId("child");
      var stopped = new CountDownLatch(1);
      Agent host =
          run -> {
            var call = new ToolCallId("call");
            var start = new ToolStart(call, "sub", Json.object(), null, null, null, null, null);
            var hosted =
                run.spawner()
                    .host(
                        run,
                        new Spawner.Call(call, new InvocationId("inv"), List.of(start)),
                        new Spawner.Child(child, new AgentTypeId("sub"), "talk", null));
            var block = run.sources().blockId();
            for (var i = 0; hosted.emit(List.of(new ContentDelta("word ", i, block))); i++) {
              Thread.onSpinWait();
            }
            stopped.countDown();
            new CountDownLatch(1).await();
            throw new AssertionError();
          };
      try (var world = World.with(host, folder)) {
        var root = world.say("go").taskId();
        world.await(
            e ->
                child.equals(e.taskId()) && e.event() instanceof ContentDelta d && d.index() > 200);

        world.tasks().cancel(World.CONTEXT, child, "local", null);

        assertThat(world.end(child)).isEqualTo(TaskState.CANCELED);
        stopped.await();
        var kinds = world.kinds(child);
        // No text follows the cancellation request.
        assertThat(kinds.subList(kinds.indexOf(Kind.CANCEL_REQUESTED), kinds.size()))
            .doesNotContain(Kind.CONTENT_DELTA);
        world.tasks().cancel(World.CONTEXT, root, "local", null);
        assertThat(world.end(root)).isEqualTo(TaskState.CANCELED);
      }
    }
  }

  @Test
  void a_rollback_that_is_sent_twice_under_one_key_makes_one_task_and_leaves_it_alone()
      throws Exception {
    var gate = new Gate();
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
    try (var world =
        World.with(World.newLog(), Map.of(World.AGENT, gate), folder, Limits.DEFAULT, pause)) {
      var a = world.say("a").taskId();
      world.awaitKind(a, Kind.CONTENT_DELTA);
      var submission =
          new Submission(
              World.CONTEXT,
              "local",
              "b",
              null,
              World.options(WhenBusy.ROLLBACK),
              new Guard.Once("local", "key", "hash"));
      var late = new FutureTask<>(() -> world.tasks().submit(submission));
      Thread.ofVirtual().start(late);
      reached.await();
      // Sent again while the first request is in progress: the second one finishes first.
      var accepted = world.tasks().submit(submission);
      world.awaitKind(accepted.taskId(), Kind.CONTENT_DELTA);
      first.countDown();

      assertThat(late.get()).isEqualTo(accepted);
      gate.open("b");
      assertThat(world.end(accepted.taskId())).isEqualTo(TaskState.COMPLETED);
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
