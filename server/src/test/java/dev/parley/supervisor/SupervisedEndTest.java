package dev.parley.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.Prompt;
import dev.parley.model.Prompt.PromptPart.PromptMessage;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.TaskTestBed;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/// The results of subtasks in the end of a supervised task.
@Timeout(60)
class SupervisedEndTest {

  @TempDir Path folder;

  private final SupervisorTestBed supervisorTestBed = new SupervisorTestBed();

  // EVENT-12
  @Test
  void its_totals_include_the_subtasks_and_its_own_usage_is_separate() throws Exception {
    supervisorTestBed.decision(SupervisorTestBed.decision("parallel", "a", "b"));
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      // The decision, two agents, and the combined answer: 10 and 5 tokens each.
      var end = end(taskTestBed, task);
      assertThat(end.path("usage").path("inputTokens").asInt()).isEqualTo(40);
      assertThat(end.path("usage").path("outputTokens").asInt()).isEqualTo(20);
      assertThat(end.path("tokensUsed").asInt()).isEqualTo(60);
      assertThat(end.path("costUsd").decimalValue()).isEqualByComparingTo("1.00");
      assertThat(end.path("modelUsage").propertyNames())
          .containsExactlyInAnyOrder("model-decider", "model-a", "model-b");
      assertThat(end.path("ownUsage").path("inputTokens").asInt()).isEqualTo(20);
      assertThat(taskTestBed.answer(task).metadata().path("usage")).isEqualTo(end.path("usage"));
    }
  }

  @Test
  void the_end_of_a_task_without_tasks_below_has_no_part_of_its_own() throws Exception {
    supervisorTestBed.decision(SupervisorTestBed.decision("single", "a"));
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      var end = end(taskTestBed, child(taskTestBed, task, 0));
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
  // CHAT-74
  void it_reports_why_the_answer_of_its_agent_is_incomplete(
      FinishReason reason, String wire, boolean truncated) throws Exception {
    supervisorTestBed.decision(SupervisorTestBed.decision("single", "a")).finishing("a", reason);
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      for (ObjectNode metadata :
          new ObjectNode[] {
            end(taskTestBed, task),
            taskTestBed.answer(task).metadata(),
            end(taskTestBed, child(taskTestBed, task, 0))
          }) {
        assertThat(metadata.path("finishReason").asString()).isEqualTo(wire);
        assertThat(metadata.path("truncated").asBoolean(false)).isEqualTo(truncated);
      }
      var result = end(taskTestBed, task).path("results").get(0).path("metadata");
      assertThat(result.path("finishReason").asString()).isEqualTo(wire);
    }
  }

  @Test
  void an_answer_that_is_whole_has_no_reason() throws Exception {
    supervisorTestBed.decision(SupervisorTestBed.decision("single", "a"));
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      assertThat(end(taskTestBed, task).has("finishReason")).isFalse();
      assertThat(taskTestBed.answer(task).metadata().has("finishReason")).isFalse();
      assertThat(taskTestBed.answer(task).metadata().has("truncated")).isFalse();
    }
  }

  @Test
  void answers_that_are_joined_by_rules_carry_the_reason_of_the_one_that_is_not_whole()
      throws Exception {
    supervisorTestBed.finishing("b", FinishReason.LENGTH);
    try (var taskTestBed = supervisorTestBed.world(TaskTestBed.newLog(), folder, false)) {
      var task = say(taskTestBed, "delegate the work to a and b");

      assertThat(end(taskTestBed, task).path("truncated").asBoolean()).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "parallel, LENGTH, length, the model reached its output limit",
    "sequential, LENGTH, length, the model reached its output limit",
    "parallel, CONTENT_FILTER, content-filter, a content filter stopped the model",
    "sequential, REFUSAL, refusal, the model refused to continue"
  })
  void a_combined_answer_carries_the_reason_of_its_parts_and_the_model_is_told(
      String strategy, FinishReason reason, String wire, String cause) throws Exception {
    supervisorTestBed
        .decision(SupervisorTestBed.decision(strategy, "a", "b"))
        .finishing("a", reason)
        .finishing("b", reason);
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      assertThat(taskTestBed.answer(task).content()).isEqualTo("combined");
      for (var metadata :
          new ObjectNode[] {end(taskTestBed, task), taskTestBed.answer(task).metadata()}) {
        assertThat(metadata.path("finishReason").asString()).isEqualTo(wire);
        assertThat(metadata.path("truncated").asBoolean(false))
            .isEqualTo(reason == FinishReason.LENGTH);
      }
      var combining = (PromptMessage) lastPrompt("decider").parts().getLast();
      var note = "[This result is incomplete: " + cause + ".]";
      assertThat(combining.text())
          .contains("## Alice\n\nI am a\n\n" + note, "## Bob\n\nI am b\n\n" + note);
    }
  }

  @Test
  void only_the_incomplete_part_is_marked_for_the_model() throws Exception {
    supervisorTestBed
        .decision(SupervisorTestBed.decision("parallel", "a", "b"))
        .finishing("b", FinishReason.LENGTH);
    try (var taskTestBed = deciding()) {
      say(taskTestBed, "what now?");

      var combining = (PromptMessage) lastPrompt("decider").parts().getLast();
      assertThat(combining.text())
          .contains("## Alice\n\nI am a\n\n## Bob\n\nI am b\n\n[This result is incomplete");
    }
  }

  @Test
  void the_reason_of_the_combined_answer_itself_goes_first() throws Exception {
    supervisorTestBed
        .decision(SupervisorTestBed.decision("parallel", "a", "b"))
        .finishing("a", FinishReason.LENGTH)
        .finishing("decider", FinishReason.REFUSAL);
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      assertThat(end(taskTestBed, task).path("finishReason").asString()).isEqualTo("refusal");
    }
  }

  @Test
  void the_next_agent_of_a_sequence_is_told_that_the_previous_result_is_incomplete()
      throws Exception {
    supervisorTestBed
        .decision(SupervisorTestBed.decision("sequential", "a", "b"))
        .finishing("a", FinishReason.LENGTH);
    try (var taskTestBed = deciding()) {
      say(taskTestBed, "what now?");

      assertThat(lastPrompt("b").parts())
          .filteredOn(PromptMessage.class::isInstance)
          .extracting(part -> ((PromptMessage) part).text())
          .anyMatch(
              text ->
                  text.endsWith(
                      "I am a\n\n"
                          + "[This result is incomplete: the model reached its output limit.]"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"parallel", "sequential", "single"})
  void a_task_whose_agents_all_fail_has_their_results(String strategy) throws Exception {
    supervisorTestBed
        .decision(SupervisorTestBed.decision(strategy, "a", "b"))
        .answering("a", _ -> null)
        .answering("b", _ -> null);
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      var status = taskTestBed.events(task, TaskStatus.class).getLast();
      assertThat(status.status()).isEqualTo(TaskState.FAILED);
      var metadata = status.metadata();
      assertThat(SupervisorTestBed.routing(metadata).path("strategy").asString())
          .isEqualTo(strategy);
      assertThat(metadata.path("results").valueStream())
          .hasSize(strategy.equals("single") ? 1 : 2)
          .filteredOn(result -> result.path("agentId").asString().equals("a"))
          .singleElement()
          .satisfies(
              result -> {
                assertThat(result.path("status").asString()).isEqualTo("failure");
                assertThat(result.path("error").asString()).isEqualTo("a cannot");
              });
      assertThat(metadata.path("reason").asString()).isNotEmpty();
      assertThat(metadata.path("usage").isObject()).isTrue();
    }
  }

  // CHAT-84
  @Test
  void the_result_of_a_failed_task_has_its_error_duration_and_usage() throws Exception {
    supervisorTestBed.answering("b", _ -> null);
    try (var taskTestBed = supervisorTestBed.world(TaskTestBed.newLog(), folder, false)) {
      var task = say(taskTestBed, "delegate the work to a and b");

      var result =
          end(taskTestBed, task)
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

  // CHAT-84
  @Test
  void the_result_of_a_task_that_never_ran_has_the_reason() throws Exception {
    supervisorTestBed
        .decision(SupervisorTestBed.decision("sequential", "a", "b", "c"))
        .answering("b", _ -> null);
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      var last = end(taskTestBed, task).path("results").get(2);
      assertThat(last.path("status").asString()).isEqualTo("cancelled");
      assertThat(last.path("error").asString()).isEqualTo("a previous task did not succeed");
      assertThat(last.path("duration").asLong()).isZero();
    }
  }

  // CHAT-47
  @Test
  void the_previous_result_in_a_sequence_is_an_agent_result() throws Exception {
    supervisorTestBed.decision(SupervisorTestBed.decision("sequential", "a", "b"));
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      var second = taskTestBed.events(child(taskTestBed, task, 1), TaskCreated.class).getFirst();
      var before = second.metadata().path("previousResults").get(0);
      assertThat(before.path("taskId").asString()).isEqualTo(child(taskTestBed, task, 0).value());
      assertThat(before.path("agentId").asString()).isEqualTo("a");
      assertThat(before.path("status").asString()).isEqualTo("success");
      assertThat(before.path("output").asString()).isEqualTo("I am a");
      assertThat(before.path("duration").isNumber()).isTrue();
      assertThat(before.path("usage").path("inputTokens").asInt()).isEqualTo(10);
    }
  }

  private Prompt lastPrompt(String model) {
    return supervisorTestBed.asked.get(model).getLast();
  }

  private TaskTestBed deciding() {
    return supervisorTestBed.world(TaskTestBed.newLog(), folder, true);
  }

  private static TaskId say(TaskTestBed taskTestBed, String text) throws InterruptedException {
    var task = taskTestBed.submit(text).taskId();
    taskTestBed.awaitEnd(task);
    return task;
  }

  private static TaskId child(TaskTestBed taskTestBed, TaskId task, int index) {
    return taskTestBed.events(task, SubtaskCreated.class).stream()
        .map(SubtaskCreated::subtaskId)
        .toList()
        .get(index);
  }

  private static ObjectNode end(TaskTestBed taskTestBed, TaskId task) {
    return taskTestBed.events(task, TaskComplete.class).getFirst().metadata();
  }
}
