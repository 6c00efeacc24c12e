package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.AppendGuard;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.runtime.ManualTime;
import dev.parley.task.Answerer;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.task.WhenBusy;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.StringNode;

@Timeout(120)
class QuestionsTest {

  @TempDir Path folder;

  private final ManualTime time = new ManualTime();

  private final TestTool guarded = TestTool.echo("guarded", Permission.ASK);

  @Test
  void a_call_that_needs_approval_runs_only_after_it_and_the_task_holds_no_place_meanwhile()
      throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, guarded)) {
      var task = taskTestBed.submit("!guarded {\"n\":1}").taskId();
      var asked = asked(taskTestBed, task);
      parked(taskTestBed, task, TaskState.WAITING_INPUT);

      assertThat(asked.inputType()).isEqualTo(InputEvent.InputType.CONFIRMATION);
      assertThat(asked.requireUser()).isTrue();
      assertThat(asked.metadata().path("toolCall").path("arguments").path("n").asInt()).isOne();
      assertThat(asked.metadata().path("hash").asString()).hasSize(64);
      assertThat(guarded.called()).isEmpty();
      assertThat(taskTestBed.events(task, ToolStart.class)).isEmpty();
      taskTestBed.awaitNoRun();

      answer(taskTestBed, asked.inputId(), BooleanNode.TRUE);

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(guarded.called()).hasSize(1);
      assertThat(taskTestBed.answer(task).content()).isEqualTo("{\"n\":1}");
    }
  }

  @Test
  void an_approver_can_edit_the_arguments_or_say_no_and_why() throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, guarded)) {
      var task = taskTestBed.submit("!guarded {\"n\":1}\n!guarded {\"n\":2}").taskId();
      asked(taskTestBed, task);
      var both = taskTestBed.events(task, InputRequired.class);
      var edited = Json.object().put("approved", true);
      edited.putObject("arguments").put("n", 7);

      answer(
          taskTestBed,
          both.get(1).inputId(),
          Json.object().put("approved", false).put("reason", "no"));
      answer(taskTestBed, both.get(0).inputId(), edited);

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(guarded.called()).containsExactly(Json.object().put("n", 7));
      assertThat(taskTestBed.answer(task).content())
          .contains("{\"n\":7}")
          .contains("a person denied this call: no");
    }
  }

  // EVENT-30
  @Test
  void an_answer_must_be_valid_and_a_second_one_is_rejected() throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, guarded)) {
      var task = taskTestBed.submit("!guarded").taskId();
      var asked = asked(taskTestBed, task);

      assertThatThrownBy(() -> answer(taskTestBed, asked.inputId(), StringNode.valueOf("maybe")))
          .isInstanceOf(Rejection.Invalid.class);
      assertThatThrownBy(() -> answer(taskTestBed, new InputId("other"), BooleanNode.TRUE))
          .isInstanceOf(Rejection.NotFound.class);
      answer(taskTestBed, asked.inputId(), BooleanNode.FALSE);
      taskTestBed.awaitEnd(task);
      assertThatThrownBy(() -> answer(taskTestBed, asked.inputId(), BooleanNode.TRUE))
          .isInstanceOf(Rejection.Conflict.class);
      assertThat(guarded.called()).isEmpty();
    }
  }

  // EVENT-32
  @Test
  void open_questions_and_completed_calls_survive_a_restart() throws Exception {
    var log = TaskTestBed.newLog();
    var open = TestTool.echo("open", Permission.ALLOW);
    TaskId task;
    InputRequired asked;
    try (var taskTestBed = TestTeam.world(log, folder, guarded, open)) {
      task = taskTestBed.submit("!open {\"n\":1}\n!guarded {\"n\":2}").taskId();
      asked = asked(taskTestBed, task);
      parked(taskTestBed, task, TaskState.WAITING_INPUT);
    }
    try (var taskTestBed = TestTeam.world(log, folder, guarded, open)) {
      taskTestBed.tasks().recover();
      answer(taskTestBed, asked.inputId(), BooleanNode.TRUE);

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(open.called()).hasSize(1);
      assertThat(guarded.called()).hasSize(1);
      assertThat(taskTestBed.events(task, InputRequired.class)).hasSize(1);
      SubagentsTest.assertSound(taskTestBed);
    }
  }

  // EVENT-31
  @Test
  void an_unanswered_question_lapses_and_the_model_receives_the_reason() throws Exception {
    var taskLimits = patience(Duration.ofMinutes(1));
    try (var taskTestBed =
        TestTeam.world(TaskTestBed.newLog(time), folder, taskLimits, ToolPolicy.DEFAULT, guarded)) {
      var task = taskTestBed.submit("!guarded").taskId();
      time.advanceToTimer("ExpiryKey");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.events(task, InputLapsed.class)).hasSize(1);
      assertThat(taskTestBed.answer(task).content()).contains("this call was not approved");
      assertThat(guarded.called()).isEmpty();
    }
  }

  // EVENT-28, EVENT-27
  @Test
  void the_parent_agent_answers_what_it_knows_and_a_person_answers_the_rest() throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, TestTool.asking())) {
      var known = taskTestBed.submit("the colour is blue\n" + ask("what colour?", false)).taskId();

      assertThat(taskTestBed.awaitEnd(known)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(known).content()).isEqualTo("blue");
      var received = only(taskTestBed, InputReceived.class);
      assertThat(received.providedBy()).isEqualTo(InputEvent.Provider.AGENT);
      assertThat(received.agentId()).isEqualTo(TaskTestBed.AGENT);

      var personal =
          taskTestBed.submit("the colour is blue\n" + ask("what colour?", true)).taskId();
      var asked =
          (InputRequired)
              taskTestBed
                  .await(
                      e ->
                          e.event() instanceof InputRequired required
                              && Boolean.TRUE.equals(required.requireUser()))
                  .event();
      answer(taskTestBed, asked.inputId(), StringNode.valueOf("red"));
      assertThat(taskTestBed.awaitEnd(personal)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(personal).content()).isEqualTo("red");
    }
  }

  // EVENT-28
  @Test
  void a_question_that_no_parent_agent_can_answer_reaches_the_person_from_any_depth()
      throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, TestTool.asking())) {
      var task = taskTestBed.submit(SubagentsTest.hand("a", ask("what colour?", false))).taskId();
      var asked =
          (InputRequired) taskTestBed.await(e -> e.event() instanceof InputRequired).event();
      var blocked =
          taskTestBed.await(
              e ->
                  e.event() instanceof TaskStatus status
                      && status.status() == TaskState.WAITING_INPUT
                      && status.metadata().path("blockedBy").asString().equals("user"));

      answer(taskTestBed, asked.inputId(), StringNode.valueOf("green"));

      assertThat(blocked.origin().parentTaskId()).isNotEqualTo(task);
      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).isEqualTo("green");
    }
  }

  // CORE-12
  @Test
  void a_hundred_questions_are_answered_in_any_order() throws Exception {
    var lines =
        IntStream.range(0, 100)
            .mapToObj(i -> "!guarded {\"n\":" + i + "}")
            .collect(Collectors.joining("\n"));
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, guarded)) {
      var task = taskTestBed.submit(lines).taskId();
      asked(taskTestBed, task);
      var asked = new ArrayList<>(taskTestBed.events(task, InputRequired.class));
      assertThat(asked).hasSize(100);
      Collections.shuffle(asked, new Random(7));

      for (var one : asked) {
        answer(taskTestBed, one.inputId(), BooleanNode.TRUE);
      }

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(guarded.called().stream().map(JsonNode::toString).distinct()).hasSize(100);
      assertThat(guarded.called()).hasSize(100);
      SubagentsTest.assertSound(taskTestBed);
    }
  }

  @Test
  void a_thousand_fast_approvals_race_the_task_and_each_other_and_each_counts_once()
      throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, guarded);
        var people = Executors.newVirtualThreadPerTaskExecutor()) {
      for (var round = 0; round < 50; round++) {
        var before = guarded.called().size();
        var lines = String.join("\n", Collections.nCopies(20, "!guarded"));
        var task = taskTestBed.submit(lines).taskId();
        asked(taskTestBed, task);
        var answers = new ArrayList<Future<Boolean>>();
        for (var one : taskTestBed.events(task, InputRequired.class)) {
          for (var i = 0; i < 2; i++) {
            answers.add(people.submit(() -> accepted(taskTestBed, one.inputId())));
          }
        }
        var accepted = 0;
        for (var answer : answers) {
          accepted += answer.get() ? 1 : 0;
        }
        assertThat(accepted).isEqualTo(20);
        assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
        assertThat(guarded.called()).hasSize(before + 20);
      }
      SubagentsTest.assertSound(taskTestBed);
    }
  }

  private static boolean accepted(TaskTestBed taskTestBed, InputId input) {
    try {
      answer(taskTestBed, input, BooleanNode.TRUE);
      return true;
    } catch (Rejection.Conflict twice) {
      return false;
    }
  }

  // EVENT-33
  @Test
  void a_message_replaces_the_open_question() throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, guarded)) {
      var task = taskTestBed.submit("!guarded").taskId();
      asked(taskTestBed, task);
      parked(taskTestBed, task, TaskState.WAITING_INPUT);

      var steered = taskTestBed.submit("never mind", WhenBusy.STEER);

      assertThat(steered.taskId()).isEqualTo(task);
      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).isEqualTo("never mind");
      assertThat(guarded.called()).isEmpty();
    }
  }

  @Test
  void a_task_that_waits_can_be_canceled_and_what_it_asked_lapses() throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, guarded)) {
      var task = taskTestBed.submit("!guarded").taskId();
      var asked = asked(taskTestBed, task);
      parked(taskTestBed, task, TaskState.WAITING_INPUT);

      taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.CANCELED);
      assertThat(taskTestBed.events(task, InputLapsed.class)).hasSize(1);
      assertThatThrownBy(() -> answer(taskTestBed, asked.inputId(), BooleanNode.TRUE))
          .isInstanceOf(Rejection.Conflict.class);
    }
  }

  @Test
  void a_policy_allows_asks_and_denies_by_pattern() throws Exception {
    var toolPolicy =
        new ToolPolicy(
            null, List.of("guarded(git *)", "guarded(ls)"), List.of(), List.of("guarded(rm *)"));
    var taskLimits = patience(Duration.ofMinutes(1));
    try (var taskTestBed =
        TestTeam.world(TaskTestBed.newLog(time), folder, taskLimits, toolPolicy, guarded)) {
      for (var command : List.of("git status", "ls")) {
        taskTestBed.awaitEnd(taskTestBed.submit("!guarded {\"c\":\"" + command + "\"}").taskId());
      }
      assertThat(guarded.called()).hasSize(2);
      taskTestBed.awaitEnd(taskTestBed.submit("!guarded {\"c\":\"rm -r x\"}").taskId());
      for (var arguments :
          List.of(
              "{\"c\":\"git status; ls\"}",
              "{\"c\":\"ls -l\"}",
              "{\"c\":\"git $(ls)\"}",
              // The order in which a model writes its arguments changes nothing.
              "{\"a\":\"ls\",\"c\":\"other\"}")) {
        var task = taskTestBed.submit("!guarded " + arguments).taskId();
        time.advanceToTimer("ExpiryKey");
        taskTestBed.awaitEnd(task);
      }
      assertThat(guarded.called()).hasSize(2);
      assertThat(taskTestBed.entries().stream().filter(e -> e.event() instanceof InputRequired))
          .hasSize(4);
    }
  }

  @Test
  void time_spent_waiting_for_a_person_does_not_count() throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(time), folder, guarded)) {
      var task =
          taskTestBed
              .tasks()
              .submit(TaskTestBed.submission("!guarded", TaskTestBed.timeout(4_000)))
              .taskId();
      var asked = asked(taskTestBed, task);
      parked(taskTestBed, task, TaskState.WAITING_INPUT);
      time.awaitNoTimer("timer-" + task);
      time.advance(Duration.ofHours(1));

      answer(taskTestBed, asked.inputId(), BooleanNode.TRUE);

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
    }
  }

  @Test
  void those_above_lose_no_time_while_a_person_is_waited_for_below() throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(time), folder, guarded)) {
      var nested = SubagentsTest.hand("a", SubagentsTest.hand("b", "!guarded"));
      var task =
          taskTestBed
              .tasks()
              .submit(TaskTestBed.submission(nested, TaskTestBed.timeout(4_000)))
              .taskId();
      var asked =
          (InputRequired) taskTestBed.await(e -> e.event() instanceof InputRequired).event();
      taskTestBed.await(
          e ->
              e.event() instanceof TaskStatus status && status.status() == TaskState.WAITING_INPUT);
      // The clocks of all three tasks are paused; the names of their timers are ids.
      for (var entry : taskTestBed.entries()) {
        if (entry.event() instanceof TaskCreated) {
          time.awaitNoTimer("timer-" + entry.taskId());
        }
      }
      time.advance(Duration.ofHours(1));

      answer(taskTestBed, asked.inputId(), BooleanNode.TRUE);

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
    }
  }

  private static String ask(String question, boolean user) {
    return SubagentsTest.hand("a", "!ask " + Json.object().put("q", question).put("user", user));
  }

  private static <E> E only(TaskTestBed taskTestBed, Class<E> type) {
    var found =
        taskTestBed.entries().stream().map(e -> e.event()).filter(type::isInstance).map(type::cast);
    return found.toList().getFirst();
  }

  static InputRequired asked(TaskTestBed taskTestBed, TaskId task) throws InterruptedException {
    return (InputRequired)
        taskTestBed
            .await(e -> task.equals(e.taskId()) && e.event() instanceof InputRequired)
            .event();
  }

  private static void parked(TaskTestBed taskTestBed, TaskId task, TaskState state)
      throws InterruptedException {
    taskTestBed.await(
        e ->
            task.equals(e.taskId())
                && e.event() instanceof TaskStatus status
                && status.status() == state);
  }

  static void answer(TaskTestBed taskTestBed, InputId input, JsonNode value) {
    taskTestBed
        .tasks()
        .answer(TaskTestBed.CONTEXT, input, value, Answerer.trusted("ada"), AppendGuard.none());
  }

  private static TaskLimits patience(Duration patience) {
    var d = TaskLimits.DEFAULT;
    return new TaskLimits(
        d.taskTimeout(),
        d.maxConcurrentTasks(),
        d.maxQueuedPerContext(),
        d.maxQueuedContexts(),
        d.maxContentLength(),
        d.stopGrace(),
        patience,
        d.whenInputLapses(),
        d.loop(),
        d.tree());
  }
}
