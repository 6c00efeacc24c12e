package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.AppendGuard;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Kind;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.Submission.TaskOptions;
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

  private final GatedAgent gatedAgent = new GatedAgent();

  @Test
  void queued_tasks_say_what_they_wait_for_and_run_in_order() throws Exception {
    try (var taskTestBed = TaskTestBed.with(gatedAgent, folder)) {
      var a = begin(taskTestBed, "a");
      var b = taskTestBed.submit("b").taskId();
      var c = taskTestBed.submit("c").taskId();
      var submitted = taskTestBed.events(b, TaskStatus.class).getFirst();
      assertThat(submitted.status()).isEqualTo(TaskState.SUBMITTED);
      assertThat(submitted.metadata().path("blockedBy").asString()).isEqualTo(a.value());
      assertThat(taskTestBed.tasks().running()).isEqualTo(1);
      assertThat(taskTestBed.tasks().queued()).isEqualTo(2);

      List.of("c", "b", "a").forEach(gatedAgent::open);
      taskTestBed.awaitEnd(c);

      assertThat(starts(taskTestBed)).containsExactly(a, b, c);
    }
  }

  @Test
  void a_full_queue_refuses_more() throws Exception {
    var taskLimits = TaskTestBed.limits(10, 2, Duration.ofSeconds(5));
    try (var taskTestBed = TaskTestBed.with(TaskTestBed.newLog(), gatedAgent, folder, taskLimits)) {
      begin(taskTestBed, "a");
      taskTestBed.submit("b");
      taskTestBed.submit("c");

      assertThatThrownBy(() -> taskTestBed.submit("d")).isInstanceOf(Rejection.Busy.class);
    }
  }

  @Test
  void reject_refuses_while_a_task_runs_and_leaves_no_trace() throws Exception {
    try (var taskTestBed = TaskTestBed.with(gatedAgent, folder)) {
      var a = begin(taskTestBed, "a");
      var before = taskTestBed.entries().size();

      assertThatThrownBy(() -> taskTestBed.submit("b", WhenBusy.REJECT))
          .isInstanceOfSatisfying(
              Rejection.Conflict.class, busy -> assertThat(busy.code()).isEqualTo("busy"));
      assertThat(taskTestBed.entries()).hasSize(before);

      gatedAgent.open("a");
      taskTestBed.awaitEnd(a);
      gatedAgent.open("b");
      assertThat(taskTestBed.awaitEnd(taskTestBed.submit("b", WhenBusy.REJECT).taskId()))
          .isEqualTo(TaskState.COMPLETED);
    }
  }

  @Test
  void interrupt_cancels_the_running_task_and_goes_before_those_that_wait() throws Exception {
    try (var taskTestBed = TaskTestBed.with(gatedAgent, folder)) {
      var a = begin(taskTestBed, "a");
      var b = taskTestBed.submit("b").taskId();
      gatedAgent.open("b");
      gatedAgent.open("c");
      var c = taskTestBed.submit("c", WhenBusy.INTERRUPT).taskId();

      assertThat(taskTestBed.awaitEnd(a)).isEqualTo(TaskState.CANCELED);
      assertThat(taskTestBed.awaitEnd(b)).isEqualTo(TaskState.COMPLETED);
      assertThat(starts(taskTestBed)).containsExactly(a, c, b);
      assertThat(taskTestBed.answer(a).content()).isEqualTo("half of it");
    }
  }

  @Test
  void rollback_cancels_the_running_task_and_takes_it_back() throws Exception {
    try (var taskTestBed = TaskTestBed.with(gatedAgent, folder)) {
      gatedAgent.open("first");
      var first = taskTestBed.submit("first");
      taskTestBed.awaitEnd(first.taskId());
      var a = taskTestBed.submit("a");
      taskTestBed.awaitKind(a.taskId(), Kind.CONTENT_DELTA);
      gatedAgent.open("b");
      var b = taskTestBed.submit("b", WhenBusy.ROLLBACK);

      assertThat(taskTestBed.awaitEnd(b.taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.awaitEnd(a.taskId())).isEqualTo(TaskState.CANCELED);
      var rewound =
          (ContextRewound) taskTestBed.await(e -> e.event() instanceof ContextRewound).event();
      assertThat(rewound.toSeq()).isEqualTo(a.seq() - 1);
      assertThat(rewound.beforeTaskId()).isEqualTo(a.taskId());
      assertThat(
              new LogHistory(taskTestBed.log())
                  .latestMessages(TaskTestBed.CONTEXT, 100).stream().map(MessageView::content))
          .containsExactly("first", "half of it", "b", "half of it");
    }
  }

  @Test
  void rollback_on_an_idle_context_takes_nothing_back() throws Exception {
    try (var taskTestBed = TaskTestBed.with(gatedAgent, folder)) {
      gatedAgent.open("a");
      taskTestBed.awaitEnd(taskTestBed.submit("a", WhenBusy.ROLLBACK).taskId());

      assertThat(taskTestBed.entries()).noneMatch(e -> e.event() instanceof ContextRewound);
    }
  }

  @Test
  void steer_reaches_the_running_task_and_makes_no_other() throws Exception {
    var go = new CountDownLatch(1);
    var heard = new CopyOnWriteArrayList<String>();
    var agent =
        resuming(
            taskRun -> {
              go.await();
              heard.addAll(said(taskRun));
              return new TaskOutcome.Completed("ok");
            });
    try (var taskTestBed = TaskTestBed.with(agent, folder)) {
      var a = taskTestBed.submit("a");
      taskTestBed.awaitKind(a.taskId(), Kind.TASK_STATUS);
      var steered = taskTestBed.submit("left", WhenBusy.STEER);
      go.countDown();
      taskTestBed.awaitEnd(a.taskId());

      assertThat(heard).containsExactly("left");
      assertThat(steered.taskId()).isEqualTo(a.taskId());
      var message = (Message) taskTestBed.await(e -> e.position().seq() == steered.seq()).event();
      assertThat(message.messageId()).isEqualTo(steered.messageId());
      assertThat(message.metadata().path("steer").asBoolean()).isTrue();
    }
  }

  @Test
  void a_steer_is_heard_by_its_task_or_becomes_a_task_but_is_never_lost() throws Exception {
    var heard = new CopyOnWriteArrayList<String>();
    var agent =
        resuming(
            taskRun -> {
              heard.add(taskRun.created().prompt());
              heard.addAll(said(taskRun));
              return new TaskOutcome.Completed("ok");
            });
    try (var taskTestBed = TaskTestBed.with(agent, folder)) {
      for (var i = 0; i < 200; i++) {
        taskTestBed.submit("ask " + i);
        var steered = taskTestBed.submit("steer " + i, WhenBusy.STEER);
        taskTestBed.awaitEnd(steered.taskId());
        assertThat(heard).contains("steer " + i);
      }
    }
  }

  @Test
  void a_steer_on_an_idle_context_is_an_ordinary_message() throws Exception {
    try (var taskTestBed = TaskTestBed.with(gatedAgent, folder)) {
      gatedAgent.open("a");

      assertThat(taskTestBed.awaitEnd(taskTestBed.submit("a", WhenBusy.STEER).taskId()))
          .isEqualTo(TaskState.COMPLETED);
    }
  }

  @Test
  void when_there_is_no_room_the_more_urgent_task_starts_first() throws Exception {
    var order = new CopyOnWriteArrayList<String>();
    var go = new CountDownLatch(1);
    var ended = new CountDownLatch(3);
    Agent agent =
        taskRun -> {
          if ("a".equals(taskRun.created().prompt())) {
            go.await();
          } else {
            order.add(taskRun.created().prompt());
            ended.countDown();
          }
          return new TaskOutcome.Completed("ok");
        };
    var taskLimits = TaskTestBed.limits(1, 10, Duration.ofSeconds(5));
    try (var taskTestBed = TaskTestBed.with(TaskTestBed.newLog(), agent, folder, taskLimits)) {
      taskTestBed.awaitKind(taskTestBed.submit("a").taskId(), Kind.TASK_STATUS);
      for (var priority : List.of(Priority.LOW, Priority.CRITICAL, Priority.NORMAL)) {
        var context = new ContextId(priority.wire());
        taskTestBed.log().create(context, new ContextCreated("local", null, null));
        var taskOptions = new TaskOptions(null, null, priority, null, null, null, null);
        taskTestBed
            .tasks()
            .submit(
                new Submission(
                    context, "local", priority.wire(), null, taskOptions, AppendGuard.none()));
      }
      go.countDown();
      ended.await();

      assertThat(order).containsExactly("critical", "normal", "low");
    }
  }

  private TaskId begin(TaskTestBed taskTestBed, String prompt) throws InterruptedException {
    var task = taskTestBed.submit(prompt).taskId();
    taskTestBed.awaitKind(task, Kind.CONTENT_DELTA);
    return task;
  }

  private static List<TaskId> starts(TaskTestBed taskTestBed) {
    return taskTestBed.entries().stream()
        .filter(e -> e.event() instanceof TaskStatus s && s.status() == TaskState.WORKING)
        .map(e -> e.taskId())
        .toList();
  }

  private static List<String> said(TaskRun taskRun) {
    return taskRun.readNewEntries().stream()
        .filter(entry -> entry.event() instanceof Message)
        .map(entry -> ((Message) entry.event()).content())
        .toList();
  }

  /// An agent that resumes.
  private static Agent resuming(Agent agent) {
    return new Agent() {
      @Override
      public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
        return agent.work(taskRun);
      }

      @Override
      public boolean resumes() {
        return true;
      }
    };
  }
}
