package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.Guard;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Kind;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.Submission.Options;
import dev.parley.view.MessageView;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class WhenBusyTest {

  @TempDir Path folder;

  private final Gate gate = new Gate();

  @Test
  void queued_tasks_say_what_they_wait_for_and_run_in_order() throws Exception {
    try (var world = World.with(gate, folder)) {
      var a = begin(world, "a");
      var b = world.say("b").taskId();
      var c = world.say("c").taskId();
      var submitted = world.events(b, TaskStatus.class).getFirst();
      assertThat(submitted.status()).isEqualTo(TaskState.SUBMITTED);
      assertThat(submitted.metadata().path("blockedBy").asString()).isEqualTo(a.value());
      assertThat(world.tasks().running()).isEqualTo(1);
      assertThat(world.tasks().queued()).isEqualTo(2);

      List.of("c", "b", "a").forEach(gate::open);
      world.end(c);

      assertThat(starts(world)).containsExactly(a, b, c);
    }
  }

  @Test
  void a_full_queue_refuses_more() throws Exception {
    var limits = World.limits(10, 2, Duration.ofSeconds(5));
    try (var world = World.with(World.newLog(), gate, folder, limits)) {
      begin(world, "a");
      world.say("b");
      world.say("c");

      assertThatThrownBy(() -> world.say("d")).isInstanceOf(Rejection.Busy.class);
    }
  }

  @Test
  void reject_refuses_while_a_task_runs_and_leaves_no_trace() throws Exception {
    try (var world = World.with(gate, folder)) {
      var a = begin(world, "a");
      var before = world.entries().size();

      assertThatThrownBy(() -> world.say("b", WhenBusy.REJECT))
          .isInstanceOfSatisfying(
              Rejection.Conflict.class, busy -> assertThat(busy.code()).isEqualTo("busy"));
      assertThat(world.entries()).hasSize(before);

      gate.open("a");
      world.end(a);
      gate.open("b");
      assertThat(world.end(world.say("b", WhenBusy.REJECT).taskId()))
          .isEqualTo(TaskState.COMPLETED);
    }
  }

  @Test
  void interrupt_cancels_the_running_task_and_goes_before_those_that_wait() throws Exception {
    try (var world = World.with(gate, folder)) {
      var a = begin(world, "a");
      var b = world.say("b").taskId();
      gate.open("b");
      gate.open("c");
      var c = world.say("c", WhenBusy.INTERRUPT).taskId();

      assertThat(world.end(a)).isEqualTo(TaskState.CANCELED);
      assertThat(world.end(b)).isEqualTo(TaskState.COMPLETED);
      assertThat(starts(world)).containsExactly(a, c, b);
      assertThat(world.answer(a).content()).isEqualTo("half of it");
    }
  }

  @Test
  void rollback_cancels_the_running_task_and_takes_it_back() throws Exception {
    try (var world = World.with(gate, folder)) {
      gate.open("first");
      var first = world.say("first");
      world.end(first.taskId());
      var a = world.say("a");
      world.awaitKind(a.taskId(), Kind.CONTENT_DELTA);
      gate.open("b");
      var b = world.say("b", WhenBusy.ROLLBACK);

      assertThat(world.end(b.taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(world.end(a.taskId())).isEqualTo(TaskState.CANCELED);
      var rewound = (ContextRewound) world.await(e -> e.event() instanceof ContextRewound).event();
      assertThat(rewound.toSeq()).isEqualTo(a.seq() - 1);
      assertThat(rewound.beforeTaskId()).isEqualTo(a.taskId());
      assertThat(
              new LogHistory(world.log())
                  .latestMessages(World.CONTEXT, 100).stream().map(MessageView::content))
          .containsExactly("first", "half of it", "b", "half of it");
    }
  }

  @Test
  void rollback_on_an_idle_context_takes_nothing_back() throws Exception {
    try (var world = World.with(gate, folder)) {
      gate.open("a");
      world.end(world.say("a", WhenBusy.ROLLBACK).taskId());

      assertThat(world.entries()).noneMatch(e -> e.event() instanceof ContextRewound);
    }
  }

  @Test
  void steer_reaches_the_running_task_and_makes_no_other() throws Exception {
    var go = new CountDownLatch(1);
    var heard = new CopyOnWriteArrayList<String>();
    var agent =
        resuming(
            run -> {
              go.await();
              heard.addAll(said(run));
              return new Outcome.Completed("ok");
            });
    try (var world = World.with(agent, folder)) {
      var a = world.say("a");
      world.awaitKind(a.taskId(), Kind.TASK_STATUS);
      var steered = world.say("left", WhenBusy.STEER);
      go.countDown();
      world.end(a.taskId());

      assertThat(heard).containsExactly("left");
      assertThat(steered.taskId()).isEqualTo(a.taskId());
      var message = (Message) world.await(e -> e.position().seq() == steered.seq()).event();
      assertThat(message.messageId()).isEqualTo(steered.messageId());
      assertThat(message.metadata().path("steer").asBoolean()).isTrue();
    }
  }

  @Test
  void a_steer_is_heard_by_its_task_or_becomes_a_task_but_is_never_lost() throws Exception {
    var heard = new CopyOnWriteArrayList<String>();
    var agent =
        resuming(
            run -> {
              heard.add(run.created().prompt());
              heard.addAll(said(run));
              return new Outcome.Completed("ok");
            });
    try (var world = World.with(agent, folder)) {
      for (var i = 0; i < 200; i++) {
        world.say("ask " + i);
        var steered = world.say("steer " + i, WhenBusy.STEER);
        world.end(steered.taskId());
        assertThat(heard).contains("steer " + i);
      }
    }
  }

  @Test
  void a_steer_on_an_idle_context_is_an_ordinary_message() throws Exception {
    try (var world = World.with(gate, folder)) {
      gate.open("a");

      assertThat(world.end(world.say("a", WhenBusy.STEER).taskId())).isEqualTo(TaskState.COMPLETED);
    }
  }

  @Test
  void when_there_is_no_room_the_more_urgent_task_starts_first() throws Exception {
    var order = new CopyOnWriteArrayList<String>();
    var go = new CountDownLatch(1);
    var ended = new CountDownLatch(3);
    Agent agent =
        run -> {
          if ("a".equals(run.created().prompt())) {
            go.await();
          } else {
            order.add(run.created().prompt());
            ended.countDown();
          }
          return new Outcome.Completed("ok");
        };
    var limits = World.limits(1, 10, Duration.ofSeconds(5));
    try (var world = World.with(World.newLog(), agent, folder, limits)) {
      world.awaitKind(world.say("a").taskId(), Kind.TASK_STATUS);
      for (var priority : List.of(Priority.LOW, Priority.CRITICAL, Priority.NORMAL)) {
        var context = new ContextId(priority.wire());
        world.log().create(context, new ContextCreated("local", null, null));
        var options = new Options(null, null, priority, null, null, null, null);
        world
            .tasks()
            .submit(new Submission(context, "local", priority.wire(), null, options, Guard.none()));
      }
      go.countDown();
      ended.await();

      assertThat(order).containsExactly("critical", "normal", "low");
    }
  }

  private TaskId begin(World world, String prompt) throws InterruptedException {
    var task = world.say(prompt).taskId();
    world.awaitKind(task, Kind.CONTENT_DELTA);
    return task;
  }

  private static List<TaskId> starts(World world) {
    return world.entries().stream()
        .filter(e -> e.event() instanceof TaskStatus s && s.status() == TaskState.WORKING)
        .map(e -> e.taskId())
        .toList();
  }

  private static List<String> said(Run run) {
    return run.news().stream()
        .filter(entry -> entry.event() instanceof Message)
        .map(entry -> ((Message) entry.event()).content())
        .toList();
  }

  /// An agent that resumes.
  private static Agent resuming(Agent agent) {
    return new Agent() {
      @Override
      public Outcome work(Run run) throws InterruptedException {
        return agent.work(run);
      }

      @Override
      public boolean resumes() {
        return true;
      }
    };
  }
}
