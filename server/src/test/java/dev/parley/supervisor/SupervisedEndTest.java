package dev.parley.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.task.World;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

/// The results of subtasks in the end of a supervised task.
@Timeout(60)
class SupervisedEndTest {

  @TempDir Path folder;

  private final Troupe troupe = new Troupe();

  @Test
  void s5_12_its_sums_cover_the_tasks_below_and_its_own_part_is_apart() throws Exception {
    troupe.decision(Troupe.decision("parallel", "a", "b"));
    try (var world = deciding()) {
      var task = say(world, "what now?");

      // The decision, two agents, and the combined answer: 10 and 5 tokens each.
      var end = end(world, task);
      assertThat(end.path("usage").path("inputTokens").asInt()).isEqualTo(40);
      assertThat(end.path("usage").path("outputTokens").asInt()).isEqualTo(20);
      assertThat(end.path("tokensUsed").asInt()).isEqualTo(60);
      assertThat(end.path("costUsd").decimalValue()).isEqualByComparingTo("1.00");
      assertThat(end.path("modelUsage").propertyNames())
          .containsExactlyInAnyOrder("model-decider", "model-a", "model-b");
      assertThat(end.path("ownUsage").path("inputTokens").asInt()).isEqualTo(20);
      assertThat(world.answer(task).metadata().path("usage")).isEqualTo(end.path("usage"));
    }
  }

  @Test
  void the_end_of_a_task_without_tasks_below_has_no_part_of_its_own() throws Exception {
    troupe.decision(Troupe.decision("single", "a"));
    try (var world = deciding()) {
      var task = say(world, "what now?");

      var end = end(world, child(world, task, 0));
      assertThat(end.path("tokensUsed").asInt()).isEqualTo(15);
      assertThat(end.has("ownUsage")).isFalse();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "LENGTH, length, true",
    "CONTENT_FILTER, content-filter, false",
    "REFUSAL, refusal, false"
  })
  void s1_74_it_says_why_the_answer_of_its_agent_is_not_whole(
      FinishReason reason, String wire, boolean truncated) throws Exception {
    troupe.decision(Troupe.decision("single", "a")).ending("a", reason);
    try (var world = deciding()) {
      var task = say(world, "what now?");

      for (ObjectNode metadata :
          new ObjectNode[] {
            end(world, task), world.answer(task).metadata(), end(world, child(world, task, 0))
          }) {
        assertThat(metadata.path("finishReason").asString()).isEqualTo(wire);
        assertThat(metadata.path("truncated").asBoolean(false)).isEqualTo(truncated);
      }
      var result = end(world, task).path("results").get(0).path("metadata");
      assertThat(result.path("finishReason").asString()).isEqualTo(wire);
    }
  }

  @Test
  void an_answer_that_is_whole_has_no_reason() throws Exception {
    troupe.decision(Troupe.decision("single", "a"));
    try (var world = deciding()) {
      var task = say(world, "what now?");

      assertThat(end(world, task).has("finishReason")).isFalse();
      assertThat(world.answer(task).metadata().has("finishReason")).isFalse();
      assertThat(world.answer(task).metadata().has("truncated")).isFalse();
    }
  }

  @Test
  void answers_that_are_joined_by_rules_carry_the_reason_of_the_one_that_is_not_whole()
      throws Exception {
    troupe.ending("b", FinishReason.LENGTH);
    try (var world = troupe.world(World.newLog(), folder, false)) {
      var task = say(world, "delegate the work to a and b");

      assertThat(end(world, task).path("truncated").asBoolean()).isTrue();
    }
  }

  @Test
  void an_answer_that_a_model_made_of_several_carries_its_own_reason() throws Exception {
    troupe.decision(Troupe.decision("parallel", "a", "b")).ending("a", FinishReason.LENGTH);
    try (var world = deciding()) {
      var task = say(world, "what now?");

      assertThat(end(world, task).has("finishReason")).isFalse();
    }
  }

  @Test
  void s1_84_a_result_of_a_task_that_failed_has_its_error_duration_and_usage() throws Exception {
    troupe.line("b", _ -> null);
    try (var world = troupe.world(World.newLog(), folder, false)) {
      var task = say(world, "delegate the work to a and b");

      var result =
          end(world, task)
              .path("results")
              .valueStream()
              .filter(one -> one.path("agentId").asString().equals("b"))
              .findFirst()
              .orElseThrow();
      assertThat(result.path("status").asString()).isEqualTo("failure");
      assertThat(result.path("error").asString()).isEqualTo("b cannot");
      assertThat(result.path("duration").isNumber()).isTrue();
      assertThat(result.path("usage").path("inputTokens").isNumber()).isTrue();
      assertThat(result.path("numTurns").asInt()).isOne();
    }
  }

  @Test
  void s1_84_a_result_of_a_task_that_never_ran_says_why() throws Exception {
    troupe.decision(Troupe.decision("sequential", "a", "b", "c")).line("b", _ -> null);
    try (var world = deciding()) {
      var task = say(world, "what now?");

      var last = end(world, task).path("results").get(2);
      assertThat(last.path("status").asString()).isEqualTo("cancelled");
      assertThat(last.path("error").asString()).isEqualTo("a previous task did not succeed");
      assertThat(last.path("duration").asLong()).isZero();
    }
  }

  @Test
  void s1_47_what_came_before_in_a_chain_is_an_agent_result() throws Exception {
    troupe.decision(Troupe.decision("sequential", "a", "b"));
    try (var world = deciding()) {
      var task = say(world, "what now?");

      var second = world.events(child(world, task, 1), TaskCreated.class).getFirst();
      var before = second.metadata().path("previousResults").get(0);
      assertThat(before.path("taskId").asString()).isEqualTo(child(world, task, 0).value());
      assertThat(before.path("agentId").asString()).isEqualTo("a");
      assertThat(before.path("status").asString()).isEqualTo("success");
      assertThat(before.path("output").asString()).isEqualTo("I am a");
      assertThat(before.path("duration").isNumber()).isTrue();
      assertThat(before.path("usage").path("inputTokens").asInt()).isEqualTo(10);
    }
  }

  private World deciding() {
    return troupe.world(World.newLog(), folder, true);
  }

  private static TaskId say(World world, String text) throws InterruptedException {
    var task = world.say(text).taskId();
    world.end(task);
    return task;
  }

  private static TaskId child(World world, TaskId task, int index) {
    return world.events(task, SubtaskCreated.class).stream()
        .map(SubtaskCreated::subtaskId)
        .toList()
        .get(index);
  }

  private static ObjectNode end(World world, TaskId task) {
    return world.events(task, TaskComplete.class).getFirst().metadata();
  }
}
