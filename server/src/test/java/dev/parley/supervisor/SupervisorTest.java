package dev.parley.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.FreezingLog;
import dev.parley.model.Prompt;
import dev.parley.model.Prompt.Part;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.Sound;
import dev.parley.task.Submission;
import dev.parley.task.WhenBusy;
import dev.parley.task.World;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Timeout(60)
class SupervisorTest {

  @TempDir Path folder;

  private final Troupe troupe = new Troupe();

  @Test
  void a_message_that_steers_is_heard_by_the_agent_that_works() throws Exception {
    var begun = new CountDownLatch(1);
    var go = new CountDownLatch(1);
    var troupe =
        new Troupe()
            .decision(Troupe.decision("single", "a"))
            .line(
                "a",
                _ -> {
                  begun.countDown();
                  go.await();
                  return "I am a";
                });
    try (var world = troupe.world(World.newLog(), folder, true)) {
      var task = world.say("write code").taskId();
      begun.await();
      var steered = world.say("make it short", WhenBusy.STEER);
      go.countDown();

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(steered.taskId()).isEqualTo(task);
      assertThat(troupe.asked.get("a")).hasSize(2);
      assertThat(((Part.Said) troupe.asked.get("a").getLast().parts().getLast()).text())
          .isEqualTo("make it short");
      assertThat(troupe.asked.get("decider")).hasSize(1);
    }
  }

  @Test
  void s1_55_the_model_is_told_of_the_agents_and_decides_in_a_form() throws Exception {
    troupe.decision(Troupe.decision("single", "b"));
    try (var world = deciding()) {
      var task = say(world, "what now?");

      var prompt = troupe.asked.get("decider").getFirst();
      assertThat(prompt.instructions())
          .contains("a (Alice): Writes code and programs.")
          .contains("b (Bob): Analyses data and tables.")
          .contains("data_analysis");
      assertThat(prompt.answerSchema().at("/properties/strategy/enum").toString())
          .contains("single", "parallel", "sequential", "delegate");
      assertThat(prompt.answerSchema().at("/properties/agents/items/properties/agentId/enum"))
          .hasSize(3);
      var routing = decided(world, task);
      assertThat(routing.path("strategy").asString()).isEqualTo("single");
      assertThat(routing.path("agents").get(0).path("agentId").asString()).isEqualTo("b");
      assertThat(routing.path("agents").get(0).path("agentName").asString()).isEqualTo("Bob");
      assertThat(routing.path("agents").get(0).path("taskDescription").asString())
          .isEqualTo("part 1");
      assertThat(routing.path("agents").get(0).path("priority").asInt()).isOne();
      assertThat(routing.path("reasoning").asString()).isEqualTo("because");
      assertThat(routing.path("confidence").asDouble()).isEqualTo(0.75);
      assertThat(routing.has("fallback")).isFalse();
    }
  }

  @Test
  void s1_56_the_decision_is_told_before_anybody_acts_on_it() throws Exception {
    troupe.decision(Troupe.decision("parallel", "a", "b"));
    try (var world = deciding()) {
      var task = say(world, "what now?");

      var events = world.events(task);
      var told = events.stream().filter(TaskStatus.class::isInstance).map(TaskStatus.class::cast);
      var status =
          told.filter(s -> s.metadata() != null && s.metadata().has("routing")).findFirst();
      assertThat(status.orElseThrow().message()).isEqualTo("parallel: Alice, Bob");
      assertThat(events.indexOf(status.orElseThrow()))
          .isLessThan(events.indexOf(world.events(task, SubtaskCreated.class).getFirst()));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"single", "delegate"})
  void s1_58_one_agent_acts_and_its_words_are_the_answer(String strategy) throws Exception {
    troupe.decision(Troupe.decision(strategy, "b", "a"));
    try (var world = deciding()) {
      var task = say(world, "what now?");

      assertThat(world.answer(task).content()).isEqualTo("I am b");
      assertThat(world.events(task, SubtaskCreated.class)).hasSize(1);
      assertThat(troupe.asked.get("a")).isEmpty();
    }
  }

  @Test
  void s1_59_agents_work_at_the_same_time_and_one_answer_is_made_of_their_results()
      throws Exception {
    var together = new CyclicBarrier(2);
    for (var name : List.of("a", "b")) {
      troupe.line(name, _ -> meet(together, name));
    }
    troupe.decision(Troupe.decision("parallel", "a", "b"));
    try (var world = deciding()) {
      var task = say(world, "what now?");

      assertThat(world.answer(task).content()).isEqualTo("combined");
      var combining = said(troupe.asked.get("decider").getLast());
      assertThat(combining)
          .contains("what now?", "## Alice\n\na was there", "## Bob\n\nb was there");
    }
  }

  @Test
  void without_a_model_the_results_stand_side_by_side() throws Exception {
    try (var world = byRules()) {
      var task = say(world, "delegate the work from one to ten to a and b");

      assertThat(world.answer(task).content()).isEqualTo("## Alice\n\nI am a\n\n## Bob\n\nI am b");
      assertThat(world.events(task, SubtaskCreated.class))
          .extracting(SubtaskCreated::prompt)
          .containsExactly("the work from one to ten", "the work from one to ten");
    }
  }

  @Test
  void s1_60_each_agent_of_a_chain_is_told_the_results_before_it_in_order() throws Exception {
    troupe.decision(Troupe.decision("sequential", "c", "a", "b"));
    try (var world = deciding()) {
      var task = say(world, "what now?");

      var children = world.events(task, SubtaskCreated.class);
      assertThat(children.stream().map(s -> s.agentId().value())).containsExactly("c", "a", "b");
      var third = world.events(children.get(2).subtaskId(), TaskCreated.class).getFirst();
      var previous = third.metadata().path("previousResults");
      assertThat(previous.valueStream().map(r -> r.path("agentId").asString()))
          .containsExactly("c", "a");
      assertThat(previous.valueStream().map(r -> r.path("output").asString()))
          .containsExactly("I am c", "I am a");
      assertThat(said(troupe.asked.get("b").getFirst()))
          .containsSubsequence("I am c", "I am a", "part 3");
      assertThat(said(troupe.asked.get("c").getFirst())).doesNotContain("I am");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "I would ask Alice.",
        "{\"strategy\":",
        "[]",
        "{\"strategy\":\"single\",\"agents\":[],\"reasoning\":\"\",\"confidence\":1}",
        "{\"strategy\":\"single\",\"agents\":[{\"agentId\":\"mallory\"}]}",
        "{\"strategy\":\"all\",\"agents\":[{\"agentId\":\"a\"}]}",
        "{\"strategy\":\"single\",\"agents\":\"a\"}",
        "{}"
      })
  void s1_61_a_decision_that_cannot_be_used_is_made_by_rules_and_that_is_told(String decision)
      throws Exception {
    troupe.decision(decision);
    try (var world = deciding()) {
      var task = say(world, "hm");

      assertThat(world.answer(task).content()).isEqualTo("I am c");
      assertThat(decided(world, task).path("fallback").asString()).contains("cannot be used");
      assertThat(world.events(task, TaskStatus.class))
          .anyMatch(s -> s.message() != null && s.message().contains("(by rules: "));
    }
  }

  @Test
  void s1_61_a_model_that_fails_does_not_keep_agents_from_acting() throws Exception {
    troupe.line("decider", _ -> null);
    try (var world = deciding()) {
      var task = say(world, "analyses of tables, please");

      assertThat(world.answer(task).content()).isEqualTo("I am b");
      assertThat(decided(world, task).path("fallback").asString())
          .isEqualTo("the model gave no decision: decider cannot");
    }
  }

  @Test
  void s1_62_when_one_of_several_fails_the_others_finish_and_the_answer_says_so() throws Exception {
    troupe.line("b", _ -> null);
    try (var world = byRules()) {
      var task = say(world, "delegate the work to a, b and c");

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.answer(task).content())
          .contains("I am a", "## Bob\n\nThis did not work (failed): b cannot", "I am c");
      assertThat(results(world, task).valueStream().map(r -> r.path("status").asString()))
          .containsExactlyInAnyOrder("success", "failure", "success");
    }
  }

  @Test
  void s1_62_when_all_fail_the_task_fails_with_their_reason() throws Exception {
    troupe.line("a", _ -> null).line("b", _ -> null);
    try (var world = byRules()) {
      var task = say(world, "delegate the work to a and b");

      assertThat(world.end(task)).isEqualTo(TaskState.FAILED);
      assertThat(world.events(task, ErrorReported.class).getFirst().message()).endsWith(" cannot");
    }
  }

  @Test
  void s1_63_a_failure_ends_a_chain_and_that_is_told() throws Exception {
    troupe.line("b", _ -> null);
    try (var world = byRules()) {
      var task = say(world, "delegate the work to a, b and c", options(null, "sequential"));

      assertThat(troupe.asked.get("c")).isEmpty();
      assertThat(world.events(task, SubtaskComplete.class))
          .extracting(SubtaskComplete::status)
          .containsExactly(TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED);
      assertThat(world.answer(task).content()).contains("a previous task did not succeed");
    }
  }

  @Test
  void s1_64_each_agent_works_on_a_task_of_its_own_below_the_supervisor_s() throws Exception {
    try (var world = byRules()) {
      var task = say(world, "delegate the work to a and b");

      var children = world.events(task, SubtaskCreated.class);
      assertThat(children).extracting(SubtaskCreated::subtaskId).doesNotHaveDuplicates().hasSize(2);
      Sound.check(world.log(), World.CONTEXT);
    }
  }

  @Test
  void rules_choose_by_the_type_of_the_task_and_by_words() throws Exception {
    try (var world = byRules()) {
      var typed = say(world, "whatever", options("code_debug", null));
      assertThat(world.answer(typed).content()).isEqualTo("I am a");

      var worded = say(world, "Do you know jokes?");
      assertThat(world.answer(worded).content()).isEqualTo("I am c");
      assertThat(decided(world, worded).has("fallback")).isFalse();
    }
  }

  @Test
  void a_strategy_that_is_asked_for_goes_before_the_one_that_the_model_chose() throws Exception {
    troupe.decision(Troupe.decision("parallel", "a", "b"));
    try (var world = deciding()) {
      var one = say(world, "what now?", options(null, "single"));
      assertThat(world.events(one, SubtaskCreated.class)).hasSize(1);
      assertThat(troupe.asked.get("decider").getFirst().instructions())
          .contains("The strategy must be single");

      var chain = say(world, "what now?", options(null, "sequential"));
      assertThat(decided(world, chain).path("strategy").asString()).isEqualTo("sequential");
      assertThat(world.events(chain, SubtaskCreated.class)).hasSize(2);
    }
  }

  @Test
  void the_end_tells_what_each_agent_came_to_and_what_it_took() throws Exception {
    try (var world = byRules()) {
      var task = say(world, "delegate the work to a and b");

      var result =
          results(world, task)
              .valueStream()
              .filter(r -> r.path("agentId").asString().equals("a"))
              .findFirst()
              .orElseThrow();
      assertThat(result.path("status").asString()).isEqualTo("success");
      assertThat(result.path("output").asString()).isEqualTo("I am a");
      assertThat(result.path("usage").path("inputTokens").asInt()).isEqualTo(10);
      assertThat(result.path("modelUsage").has("model-a")).isTrue();
      assertThat(result.path("costUsd").decimalValue()).isEqualByComparingTo("0.25");
      assertThat(result.path("duration").isNumber()).isTrue();
      assertThat(result.path("numTurns").asInt()).isOne();
      assertThat(result.path("taskId").asString()).isNotEmpty();
    }
  }

  @Test
  void a_restart_in_the_middle_keeps_the_decision() throws Exception {
    var log = World.newLog();
    var freezing = new FreezingLog(log, Integer.MAX_VALUE, () -> new Rejection.Gone("frozen"));
    troupe.decision(Troupe.decision("sequential", "a", "b"));
    TaskId task;
    try (var world =
        troupe.world(
            freezing,
            folder,
            true,
            place -> {
              if (place.equals("routed")) {
                freezing.thaw(0);
              }
            })) {
      task = world.say("what now?").taskId();
      freezing.awaitRefusal();
    }
    troupe.decision(Troupe.decision("single", "c"));
    try (var world = troupe.world(log, folder, true)) {
      world.tasks().recover();

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(decided(world, task).path("strategy").asString()).isEqualTo("sequential");
      assertThat(troupe.asked.get("c")).isEmpty();
      Sound.check(log, World.CONTEXT);
    }
  }

  private World deciding() {
    return troupe.world(World.newLog(), folder, true);
  }

  private World byRules() {
    return troupe.world(World.newLog(), folder, false);
  }

  private static TaskId say(World world, String text) throws InterruptedException {
    return say(world, text, Submission.Options.NONE);
  }

  private static TaskId say(World world, String text, Submission.Options options)
      throws InterruptedException {
    var task = world.tasks().submit(World.submission(text, options)).taskId();
    world.end(task);
    return task;
  }

  private static Submission.Options options(@Nullable String type, @Nullable String strategy) {
    return new Submission.Options(null, type, null, null, null, strategy, null);
  }

  private static ObjectNode decided(World world, TaskId task) {
    return world.events(task, TaskStatus.class).stream()
        .filter(s -> s.metadata() != null && s.metadata().has(Supervisor.ROUTING))
        .map(s -> Troupe.routing(s.metadata()))
        .findFirst()
        .orElseThrow();
  }

  private static JsonNode results(World world, TaskId task) {
    var end = world.events(task, TaskComplete.class).getFirst();
    assertThat(end.metadata().has(Supervisor.ROUTING)).isTrue();
    return end.metadata().path("results");
  }

  private static String said(Prompt prompt) {
    return prompt.parts().stream()
        .map(part -> ((Part.Said) part).text())
        .collect(Collectors.joining("\n"));
  }

  private static String meet(CyclicBarrier barrier, String name) throws InterruptedException {
    try {
      var _ = barrier.await(20, TimeUnit.SECONDS);
      return name + " was there";
    } catch (java.util.concurrent.BrokenBarrierException
        | java.util.concurrent.TimeoutException alone) {
      return name + " was alone";
    }
  }
}
