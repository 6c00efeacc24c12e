package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.Guard;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.Answerer;
import dev.parley.task.Limits;
import dev.parley.task.WhenBusy;
import dev.parley.task.World;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
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

  private final TestTool guarded = TestTool.echo("guarded", Permission.ASK);

  @Test
  void a_call_that_needs_approval_runs_only_after_it_and_the_task_holds_no_place_meanwhile()
      throws Exception {
    try (var world = Team.world(World.newLog(), folder, guarded)) {
      var task = world.say("!guarded {\"n\":1}").taskId();
      var asked = asked(world, task);
      parked(world, task, TaskState.WAITING_INPUT);

      assertThat(asked.inputType()).isEqualTo(InputEvent.InputType.CONFIRMATION);
      assertThat(asked.requireUser()).isTrue();
      assertThat(asked.metadata().path("toolCall").path("arguments").path("n").asInt()).isOne();
      assertThat(asked.metadata().path("hash").asString()).hasSize(64);
      assertThat(guarded.called()).isEmpty();
      assertThat(world.events(task, ToolStart.class)).isEmpty();
      // Its slot is free soon after its status is `waiting`.
      while (world.tasks().running() > 0) {
        Thread.onSpinWait();
      }

      answer(world, asked.inputId(), BooleanNode.TRUE);

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(guarded.called()).hasSize(1);
      assertThat(world.answer(task).content()).isEqualTo("{\"n\":1}");
    }
  }

  @Test
  void an_approver_can_edit_the_arguments_or_say_no_and_why() throws Exception {
    try (var world = Team.world(World.newLog(), folder, guarded)) {
      var task = world.say("!guarded {\"n\":1}\n!guarded {\"n\":2}").taskId();
      asked(world, task);
      var both = world.events(task, InputRequired.class);
      var edited = Json.object().put("approved", true);
      edited.putObject("arguments").put("n", 7);

      answer(
          world, both.get(1).inputId(), Json.object().put("approved", false).put("reason", "no"));
      answer(world, both.get(0).inputId(), edited);

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(guarded.called()).containsExactly(Json.object().put("n", 7));
      assertThat(world.answer(task).content())
          .contains("{\"n\":7}")
          .contains("a person denied this call: no");
    }
  }

  @Test
  void s5_30_an_answer_must_fit_and_a_second_one_is_refused() throws Exception {
    try (var world = Team.world(World.newLog(), folder, guarded)) {
      var task = world.say("!guarded").taskId();
      var asked = asked(world, task);

      assertThatThrownBy(() -> answer(world, asked.inputId(), StringNode.valueOf("maybe")))
          .isInstanceOf(Rejection.Invalid.class);
      assertThatThrownBy(() -> answer(world, new InputId("other"), BooleanNode.TRUE))
          .isInstanceOf(Rejection.NotFound.class);
      answer(world, asked.inputId(), BooleanNode.FALSE);
      world.end(task);
      assertThatThrownBy(() -> answer(world, asked.inputId(), BooleanNode.TRUE))
          .isInstanceOf(Rejection.Conflict.class);
      assertThat(guarded.called()).isEmpty();
    }
  }

  @Test
  void s5_32_what_is_asked_survives_a_restart_and_so_does_what_was_done_beside_it()
      throws Exception {
    var log = World.newLog();
    var open = TestTool.echo("open", Permission.ALLOW);
    TaskId task;
    InputRequired asked;
    try (var world = Team.world(log, folder, guarded, open)) {
      task = world.say("!open {\"n\":1}\n!guarded {\"n\":2}").taskId();
      asked = asked(world, task);
      parked(world, task, TaskState.WAITING_INPUT);
    }
    try (var world = Team.world(log, folder, guarded, open)) {
      world.tasks().recover();
      answer(world, asked.inputId(), BooleanNode.TRUE);

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(open.called()).hasSize(1);
      assertThat(guarded.called()).hasSize(1);
      assertThat(world.events(task, InputRequired.class)).hasSize(1);
      SubagentsTest.assertSound(world);
    }
  }

  @Test
  void s5_31_what_nobody_answers_lapses_and_the_model_is_told() throws Exception {
    var limits = patience(Duration.ofMillis(150));
    try (var world = Team.world(World.newLog(), folder, limits, Policy.USUAL, guarded)) {
      var task = world.say("!guarded").taskId();

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.events(task, InputLapsed.class)).hasSize(1);
      assertThat(world.answer(task).content()).contains("this call was not approved");
      assertThat(guarded.called()).isEmpty();
    }
  }

  @Test
  void s5_28_the_agent_above_answers_what_it_knows_and_s5_27_a_person_what_it_may_not()
      throws Exception {
    try (var world = Team.world(World.newLog(), folder, TestTool.asking())) {
      var known = world.say("the colour is blue\n" + ask("what colour?", false)).taskId();

      assertThat(world.end(known)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.answer(known).content()).isEqualTo("blue");
      var received = only(world, InputReceived.class);
      assertThat(received.providedBy()).isEqualTo(InputEvent.Provider.AGENT);
      assertThat(received.agentId()).isEqualTo(World.AGENT);

      var personal = world.say("the colour is blue\n" + ask("what colour?", true)).taskId();
      var asked =
          (InputRequired)
              world
                  .await(
                      e ->
                          e.event() instanceof InputRequired required
                              && Boolean.TRUE.equals(required.requireUser()))
                  .event();
      answer(world, asked.inputId(), StringNode.valueOf("red"));
      assertThat(world.end(personal)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.answer(personal).content()).isEqualTo("red");
    }
  }

  @Test
  void s5_28_what_no_agent_above_knows_goes_to_the_person_through_any_depth() throws Exception {
    try (var world = Team.world(World.newLog(), folder, TestTool.asking())) {
      var task = world.say(SubagentsTest.hand("a", ask("what colour?", false))).taskId();
      var asked = (InputRequired) world.await(e -> e.event() instanceof InputRequired).event();
      var blocked =
          world.await(
              e ->
                  e.event() instanceof TaskStatus status
                      && status.status() == TaskState.WAITING_INPUT
                      && status.metadata().path("blockedBy").asString().equals("user"));

      answer(world, asked.inputId(), StringNode.valueOf("green"));

      assertThat(blocked.origin().parentTaskId()).isNotEqualTo(task);
      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.answer(task).content()).isEqualTo("green");
    }
  }

  @Test
  void x_12_a_hundred_questions_are_answered_in_any_order() throws Exception {
    var lines =
        IntStream.range(0, 100)
            .mapToObj(i -> "!guarded {\"n\":" + i + "}")
            .collect(Collectors.joining("\n"));
    try (var world = Team.world(World.newLog(), folder, guarded)) {
      var task = world.say(lines).taskId();
      asked(world, task);
      var asked = new ArrayList<>(world.events(task, InputRequired.class));
      assertThat(asked).hasSize(100);
      Collections.shuffle(asked, new Random(7));

      for (var one : asked) {
        answer(world, one.inputId(), BooleanNode.TRUE);
      }

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(guarded.called().stream().map(JsonNode::toString).distinct()).hasSize(100);
      assertThat(guarded.called()).hasSize(100);
      SubagentsTest.assertSound(world);
    }
  }

  @Test
  void a_thousand_fast_approvals_race_the_task_and_each_other_and_each_counts_once()
      throws Exception {
    try (var world = Team.world(World.newLog(), folder, guarded);
        var people = Executors.newVirtualThreadPerTaskExecutor()) {
      for (var round = 0; round < 50; round++) {
        var before = guarded.called().size();
        var lines = String.join("\n", Collections.nCopies(20, "!guarded"));
        var task = world.say(lines).taskId();
        asked(world, task);
        var answers = new ArrayList<Future<Boolean>>();
        for (var one : world.events(task, InputRequired.class)) {
          for (var i = 0; i < 2; i++) {
            answers.add(people.submit(() -> accepted(world, one.inputId())));
          }
        }
        var accepted = 0;
        for (var answer : answers) {
          accepted += answer.get() ? 1 : 0;
        }
        assertThat(accepted).isEqualTo(20);
        assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
        assertThat(guarded.called()).hasSize(before + 20);
      }
      SubagentsTest.assertSound(world);
    }
  }

  private static boolean accepted(World world, InputId input) {
    try {
      answer(world, input, BooleanNode.TRUE);
      return true;
    } catch (Rejection.Conflict twice) {
      return false;
    }
  }

  @Test
  void s5_33_a_message_takes_the_place_of_what_was_asked() throws Exception {
    try (var world = Team.world(World.newLog(), folder, guarded)) {
      var task = world.say("!guarded").taskId();
      asked(world, task);
      parked(world, task, TaskState.WAITING_INPUT);

      var steered = world.say("never mind", WhenBusy.STEER);

      assertThat(steered.taskId()).isEqualTo(task);
      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.answer(task).content()).isEqualTo("never mind");
      assertThat(guarded.called()).isEmpty();
    }
  }

  @Test
  void a_task_that_waits_can_be_canceled_and_what_it_asked_lapses() throws Exception {
    try (var world = Team.world(World.newLog(), folder, guarded)) {
      var task = world.say("!guarded").taskId();
      var asked = asked(world, task);
      parked(world, task, TaskState.WAITING_INPUT);

      world.tasks().cancel(World.CONTEXT, task, "local", null);

      assertThat(world.end(task)).isEqualTo(TaskState.CANCELED);
      assertThat(world.events(task, InputLapsed.class)).hasSize(1);
      assertThatThrownBy(() -> answer(world, asked.inputId(), BooleanNode.TRUE))
          .isInstanceOf(Rejection.Conflict.class);
    }
  }

  @Test
  void a_policy_allows_asks_and_denies_by_pattern() throws Exception {
    var policy =
        new Policy(
            null, List.of("guarded(git *)", "guarded(ls)"), List.of(), List.of("guarded(rm *)"));
    var limits = patience(Duration.ofMillis(100));
    try (var world = Team.world(World.newLog(), folder, limits, policy, guarded)) {
      for (var command : List.of("git status", "ls")) {
        world.end(world.say("!guarded {\"c\":\"" + command + "\"}").taskId());
      }
      assertThat(guarded.called()).hasSize(2);
      for (var command : List.of("rm -r x", "git status; ls", "ls -l", "git $(ls)")) {
        world.end(world.say("!guarded {\"c\":\"" + command + "\"}").taskId());
      }
      // The order in which a model writes its arguments changes nothing.
      world.end(world.say("!guarded {\"a\":\"ls\",\"c\":\"other\"}").taskId());
      assertThat(guarded.called()).hasSize(2);
      assertThat(world.entries().stream().filter(e -> e.event() instanceof InputRequired))
          .hasSize(4);
    }
  }

  @Test
  void time_spent_waiting_for_a_person_does_not_count() throws Exception {
    var elapsed = new CountDownLatch(1);
    try (var world = Team.world(World.newLog(), folder, guarded)) {
      var task = world.tasks().submit(World.submission("!guarded", World.timeout(4_000))).taskId();
      var asked = asked(world, task);
      parked(world, task, TaskState.WAITING_INPUT);
      assertThat(elapsed.await(4_300, java.util.concurrent.TimeUnit.MILLISECONDS)).isFalse();

      answer(world, asked.inputId(), BooleanNode.TRUE);

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
    }
  }

  @Test
  void those_above_lose_no_time_while_a_person_is_waited_for_below() throws Exception {
    var elapsed = new CountDownLatch(1);
    try (var world = Team.world(World.newLog(), folder, guarded)) {
      var nested = SubagentsTest.hand("a", SubagentsTest.hand("b", "!guarded"));
      var task = world.tasks().submit(World.submission(nested, World.timeout(4_000))).taskId();
      var asked = (InputRequired) world.await(e -> e.event() instanceof InputRequired).event();
      world.await(
          e ->
              e.event() instanceof TaskStatus status && status.status() == TaskState.WAITING_INPUT);
      assertThat(elapsed.await(4_300, java.util.concurrent.TimeUnit.MILLISECONDS)).isFalse();

      answer(world, asked.inputId(), BooleanNode.TRUE);

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
    }
  }

  private static String ask(String question, boolean user) {
    return SubagentsTest.hand("a", "!ask " + Json.object().put("q", question).put("user", user));
  }

  private static <E> E only(World world, Class<E> type) {
    var found =
        world.entries().stream().map(e -> e.event()).filter(type::isInstance).map(type::cast);
    return found.toList().getFirst();
  }

  static InputRequired asked(World world, TaskId task) throws InterruptedException {
    return (InputRequired)
        world.await(e -> task.equals(e.taskId()) && e.event() instanceof InputRequired).event();
  }

  private static void parked(World world, TaskId task, TaskState state)
      throws InterruptedException {
    world.await(
        e ->
            task.equals(e.taskId())
                && e.event() instanceof TaskStatus status
                && status.status() == state);
  }

  static void answer(World world, InputId input, JsonNode value) {
    world.tasks().answer(World.CONTEXT, input, value, Answerer.trusted("ada"), Guard.none());
  }

  private static Limits patience(Duration patience) {
    var d = Limits.DEFAULT;
    return new Limits(
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
