package dev.parley.api.chat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.api.chat.ChatTaskResults.TaskCosts;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEndFacts;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

class TaskCostsTest {

  @Test
  void in_an_old_log_the_sums_of_a_supervisor_and_of_its_results_are_added() {
    var taskCosts =
        TaskCosts.of(
            end(
                """
                {"usage": {"inputTokens": 1, "outputTokens": 2}, "modelUsage": {},
                 "results": [{"usage": {"inputTokens": 10, "outputTokens": 20, "costUsd": 0.5},
                              "modelUsage": {"m": {"inputTokens": 10, "outputTokens": 20}}}]}
                """));

    assertThat(taskCosts.usage()).hasToString("{\"inputTokens\":11,\"outputTokens\":22}");
    assertThat(taskCosts.costUsd()).isEqualByComparingTo("0.5");
  }

  @Test
  void sums_that_cover_the_tasks_below_are_taken_as_they_are() {
    var taskCosts =
        TaskCosts.of(
            end(
                """
                {"usage": {"inputTokens": 11, "outputTokens": 22, "costUsd": 0.5},
                 "ownUsage": {"inputTokens": 1, "outputTokens": 2},
                 "modelUsage": {"m": {"inputTokens": 11, "outputTokens": 22}},
                 "results": [{"usage": {"inputTokens": 10, "outputTokens": 20}}]}
                """));

    assertThat(taskCosts.usage()).hasToString("{\"inputTokens\":11,\"outputTokens\":22}");
    assertThat(taskCosts.modelUsage())
        .hasToString("{\"m\":{\"inputTokens\":11,\"outputTokens\":22}}");
    assertThat(taskCosts.costUsd()).isEqualByComparingTo("0.5");
  }

  private static TaskEndFacts end(String text) {
    return TaskEndFacts.of(Json.read(text.getBytes(StandardCharsets.UTF_8), ObjectNode.class));
  }
}
