package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.runtime.ManualTime;
import dev.parley.task.FailPoint;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SubagentsTest {

  @TempDir Path folder;

  /// A command that delegates `prompt` to one agent.
  static String hand(String agent, String prompt) {
    return "!agent_" + agent + " " + Json.object().put("prompt", prompt);
  }

  /// A command that delegates prompts to a, b and c in turn.
  static String batch(Mode mode, String... prompts) {
    var arguments = Json.object().put("mode", mode.wire());
    var tasks = arguments.putArray("tasks");
    for (var i = 0; i < prompts.length; i++) {
      tasks.addObject().put("agentId", "abc".substring(i % 3, i % 3 + 1)).put("prompt", prompts[i]);
    }
    return "!subagents " + arguments;
  }

  // WORKFLOW-6
  @Test
  void a_spawning_call_and_its_subtasks_reference_each_other() throws Exception {
    var gate = new CountDownLatch(1);
    var hold =
        TestTool.of(
            "hold",
            Effect.PURE,
            Permission.ALLOW,
            (_, _) -> {
              gate.await();
              return TestTool.done("hello");
            });
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, hold)) {
      var task = taskTestBed.submit(hand("a", "!hold")).taskId();
      // A child that ends immediately may do so before its parent waits.
      taskTestBed.await(
          e ->
              e.event() instanceof TaskStatus status
                  && status.status() == TaskState.WAITING_SUBTASK);
      gate.countDown();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).isEqualTo("hello");
      var start = taskTestBed.events(task, ToolStart.class).getFirst();
      var child = taskTestBed.events(task, SubtaskCreated.class).getFirst().subtaskId();
      assertThat(start.subagentMetadata().taskIds()).containsExactly(child);
      assertThat(start.subagentMetadata().count()).isEqualTo(1);
      assertThat(taskTestBed.events(task, ToolComplete.class).getFirst().subagentMetadata())
          .isEqualTo(start.subagentMetadata());
      var events = taskTestBed.entries().stream().filter(e -> child.equals(e.taskId())).toList();
      assertThat(events.getFirst().event()).isInstanceOf(TaskCreated.class);
      assertThat(events)
          .allSatisfy(
              e -> {
                assertThat(e.origin().parentTaskId()).isEqualTo(task);
                assertThat(e.origin().rootTaskId()).isEqualTo(task);
                assertThat(e.origin().spawnedByCallId()).isEqualTo(start.toolCallId());
                assertThat(e.origin().invocationId())
                    .isEqualTo(events.getFirst().origin().invocationId())
                    .isNotNull();
                assertThat(e.origin().agentLevel()).isEqualTo(AgentLevel.SUBAGENT);
              });
      assertThat(events).noneMatch(e -> e.event() instanceof Message);
      var waits =
          taskTestBed.events(task, TaskStatus.class).stream()
              .filter(s -> s.status() == TaskState.WAITING_SUBTASK)
              .findFirst()
              .orElseThrow();
      assertThat(waits.metadata().path("blockedBy").asString()).isEqualTo(child.value());
      assertThat(seq(taskTestBed, e -> e.event() instanceof SubtaskCreated))
          .isLessThan(events.getFirst().position().seq());
      assertThat(seq(taskTestBed, e -> e.event() instanceof SubtaskComplete))
          .isGreaterThan(events.getLast().position().seq());
    }
  }

  // WORKFLOW-9
  @Test
  void two_batches_of_one_task_are_kept_apart() throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder)) {
      var lines = batch(Mode.PARALLEL, "one", "two") + "\n" + batch(Mode.PARALLEL, "three", "four");
      var task = taskTestBed.submit(lines).taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      var created =
          taskTestBed.entries().stream()
              .filter(
                  e -> e.event() instanceof TaskCreated && task.equals(e.origin().parentTaskId()))
              .toList();
      assertThat(created).hasSize(4);
      assertThat(created.stream().map(e -> e.origin().invocationId()).distinct()).hasSize(2);
      assertThat(created.stream().map(e -> e.origin().spawnedByCallId()).distinct()).hasSize(2);
    }
  }

  // WORKFLOW-15
  @Test
  void sub_agents_nest_and_every_event_has_the_root_task() throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder)) {
      var task = taskTestBed.submit(hand("a", hand("b", hand("c", hand("a", "deep"))))).taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).isEqualTo("deep");
      assertThat(taskTestBed.entries().stream().filter(e -> e.origin() != null))
          .allMatch(e -> e.origin().rootTaskId().equals(task));
    }
  }

  @Test
  void serial_tasks_see_the_results_before_them_and_the_first_failure_skips_the_rest()
      throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder)) {
      var task = taskTestBed.submit(batch(Mode.SERIAL, "one", "fail", "three")).taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      var ends = taskTestBed.events(task, SubtaskComplete.class);
      assertThat(ends)
          .extracting(SubtaskComplete::status)
          .containsExactly(TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED);
      var ids = taskTestBed.events(task, ToolStart.class).getFirst().subagentMetadata().taskIds();
      assertThat(ends).extracting(SubtaskComplete::subtaskId).containsExactlyElementsOf(ids);
      var second = taskTestBed.events(ids.get(1), TaskCreated.class).getFirst();
      assertThat(second.metadata().path("previousResults").get(0).path("output").asString())
          .isEqualTo("one");
      assertThat(taskTestBed.answer(task).content()).contains("a previous task did not succeed");
    }
  }

  @Test
  void a_tree_has_limits_and_the_model_is_told() throws Exception {
    var taskLimits = limits(new TaskLimits.TreeLimits(2, 3, 5));
    try (var taskTestBed =
        TestTeam.world(TaskTestBed.newLog(), folder, taskLimits, ToolPolicy.DEFAULT)) {
      var deep = taskTestBed.submit(hand("a", hand("b", hand("c", "too deep")))).taskId();
      taskTestBed.awaitEnd(deep);
      assertThat(taskTestBed.answer(deep).content()).contains("at most 2 levels deep");

      var wide = taskTestBed.submit(batch(Mode.PARALLEL, "1", "2", "3", "4")).taskId();
      taskTestBed.awaitEnd(wide);
      assertThat(taskTestBed.answer(wide).content()).contains("at most 3 sub-agents");

      var many =
          taskTestBed
              .submit(
                  batch(
                      Mode.PARALLEL,
                      batch(Mode.PARALLEL, "1", "2"),
                      batch(Mode.PARALLEL, "3", "4")))
              .taskId();
      taskTestBed.awaitEnd(many);
      assertThat(taskTestBed.answer(many).content()).contains("at most 5 sub-agents in all");
    }
  }

  // CHAT-81
  @Test
  void canceling_the_root_stops_all_its_subtasks() throws Exception {
    var running = new CountDownLatch(3);
    var tool =
        TestTool.of(
            "hang",
            Effect.AT_MOST_ONCE,
            Permission.ALLOW,
            (_, _) -> {
              running.countDown();
              new CountDownLatch(1).await();
              return TestTool.done("never");
            });
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, tool)) {
      var task =
          taskTestBed.submit(batch(Mode.PARALLEL, "!hang", hand("c", "!hang"), "!hang")).taskId();
      running.await();

      taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", "enough");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.CANCELED);
      assertThat(taskTestBed.reason(task)).isEqualTo("enough");
      assertSound(taskTestBed);
      taskTestBed.awaitNoRun();
    }
  }

  @Test
  void the_time_of_a_task_is_the_time_of_all_below_it() throws Exception {
    var tool =
        TestTool.of(
            "hang",
            Effect.PURE,
            Permission.ALLOW,
            (_, _) -> {
              new CountDownLatch(1).await();
              return TestTool.done("never");
            });
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, tool)) {
      var task =
          taskTestBed
              .tasks()
              .submit(
                  TaskTestBed.submission(hand("a", hand("b", "!hang")), TaskTestBed.timeout(200)))
              .taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(taskTestBed.reason(task)).isEqualTo("timeout");
      assertSound(taskTestBed);
    }
  }

  @Test
  void a_task_whose_time_is_up_is_not_woken_by_the_ends_of_those_below_it() throws Exception {
    var hangs = new CountDownLatch(1);
    var hang =
        TestTool.of(
            "hang",
            Effect.PURE,
            Permission.ALLOW,
            (_, _) -> {
              hangs.countDown();
              new CountDownLatch(1).await();
              return TestTool.done("never");
            });
    var time = new ManualTime();
    var log = TaskTestBed.newLog(time);
    var agents =
        TestTeam.agents(log, new CommandModel(), TaskLimits.DEFAULT, ToolPolicy.DEFAULT, hang);
    // For the root, its child, and the root once more, which must not happen.
    var begun = new CountDownLatch(3);
    FailPoint slow =
        place -> {
          if (place.equals("begun")) {
            begun.countDown();
          } else if (place.equals("below-ended") && begun.getCount() == 1) {
            awaitBriefly(begun);
          }
        };
    try (var taskTestBed = TaskTestBed.with(log, agents, folder, TaskLimits.DEFAULT, slow)) {
      var task =
          taskTestBed
              .tasks()
              .submit(TaskTestBed.submission(hand("a", "!hang"), TaskTestBed.timeout(5_000)))
              .taskId();
      hangs.await();
      time.advanceToTimer("timer-" + task);

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(taskTestBed.reason(task)).isEqualTo("timeout");
      assertThat(begun.getCount()).isOne();
    }
  }

  private static void awaitBriefly(CountDownLatch latch) {
    try {
      var _ = latch.await(300, TimeUnit.MILLISECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void a_spawning_call_can_be_canceled_by_itself_and_the_task_goes_on() throws Exception {
    var running = new CountDownLatch(1);
    var tool =
        TestTool.of(
            "hang",
            Effect.PURE,
            Permission.ALLOW,
            (_, _) -> {
              running.countDown();
              new CountDownLatch(1).await();
              return TestTool.done("never");
            });
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, tool)) {
      var task = taskTestBed.submit(hand("a", "!hang")).taskId();
      running.await();

      taskTestBed
          .tasks()
          .cancelTool(
              TaskTestBed.CONTEXT,
              task,
              taskTestBed.events(task, ToolStart.class).getFirst().toolCallId(),
              "ada");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).contains("canceled");
      assertSound(taskTestBed);
    }
  }

  @Test
  void a_parent_waits_without_a_place_so_that_its_children_can_have_one() throws Exception {
    var taskLimits = TaskTestBed.limits(1, 10, Duration.ofSeconds(5));
    try (var taskTestBed =
        TestTeam.world(TaskTestBed.newLog(), folder, taskLimits, ToolPolicy.DEFAULT)) {
      var task =
          taskTestBed.submit(hand("a", hand("b", batch(Mode.PARALLEL, "x", "y", "z")))).taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
    }
  }

  private static TaskLimits limits(TaskLimits.TreeLimits treeLimits) {
    var d = TaskLimits.DEFAULT;
    return new TaskLimits(
        d.taskTimeout(),
        d.maxConcurrentTasks(),
        d.maxQueuedPerContext(),
        d.maxQueuedContexts(),
        d.maxContentLength(),
        d.stopGrace(),
        d.inputTimeout(),
        d.whenInputLapses(),
        d.loop(),
        treeLimits);
  }

  private static long seq(TaskTestBed taskTestBed, java.util.function.Predicate<Entry> wanted) {
    return taskTestBed.entries().stream().filter(wanted).findFirst().orElseThrow().position().seq();
  }

  /// Every task has one end and nothing after it; every child ends before its parent, which
  /// receives its end.
  static void assertSound(TaskTestBed taskTestBed) {
    var entries = taskTestBed.entries();
    for (var created : entries.stream().filter(e -> e.event() instanceof TaskCreated).toList()) {
      var task = created.taskId();
      List<Entry> own = entries.stream().filter(e -> task.equals(e.taskId())).toList();
      assertThat(own.stream().filter(e -> TaskTestBed.terminal(e.event()))).hasSize(1);
      assertThat(TaskTestBed.terminal(own.getLast().event())).isTrue();
      TaskId parent = created.origin().parentTaskId();
      if (parent != null) {
        assertThat(taskTestBed.events(parent, SubtaskComplete.class))
            .extracting(SubtaskComplete::subtaskId)
            .containsOnlyOnce(task);
      }
    }
    assertThat(taskTestBed.log().withOpenTasks()).isEmpty();
  }
}
