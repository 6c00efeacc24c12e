package dev.parley.api.agents;

import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEndFacts;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Maps the statistics of a task to the fields of the agents API.
final class TaskStatistics {

  private TaskStatistics() {}

  /// The statistics in a task's last event.
  static ObjectNode of(TaskEndFacts end) {
    var statistics = Json.object();
    copy(end.duration(), statistics, "duration");
    copy(end.iterations(), statistics, "num_turns");
    copy(end.costUsd(), statistics, "total_cost_usd");
    var usage = end.usage();
    if (usage.isObject()) {
      var tokens = statistics.putObject("usage");
      copy(usage.path("inputTokens"), tokens, "input_tokens");
      copy(usage.path("outputTokens"), tokens, "output_tokens");
      copy(usage.path("cacheCreationInputTokens"), tokens, "cache_creation_input_tokens");
      copy(usage.path("cacheReadInputTokens"), tokens, "cache_read_input_tokens");
    }
    return statistics;
  }

  private static void copy(JsonNode value, ObjectNode to, String name) {
    if (value.isNumber()) {
      to.set(name, value);
    }
  }
}
