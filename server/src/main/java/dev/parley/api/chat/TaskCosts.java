package dev.parley.api.chat;

import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEndFacts;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The costs of a task, including the agents that it delegated work to.
///
/// @param usage total tokens, if known
/// @param modelUsage tokens of each model, if known
/// @param costUsd total cost, if known
record TaskCosts(
    @Nullable ObjectNode usage, @Nullable ObjectNode modelUsage, @Nullable BigDecimal costUsd) {

  private static final List<String> TOKENS =
      List.of("inputTokens", "outputTokens", "cacheCreationInputTokens", "cacheReadInputTokens");
  private static final String COST = "costUsd";

  /// The sums in the metadata at the end of a task. In logs of version 0.1 they are the task's own,
  /// and each result has separate sums. In later logs they include all subtasks; those logs have
  /// `ownUsage`.
  static TaskCosts of(TaskEndFacts end) {
    var usage = Json.object();
    var models = Json.object();
    add(usage, end.usage());
    addModels(models, end.modelUsage());
    for (var result : end.sumsIncludeSubtasks() ? List.<JsonNode>of() : end.results()) {
      add(usage, result.path("usage"));
      addModels(models, result.path("modelUsage"));
    }
    var cost = Optional.ofNullable(usage.remove(COST)).map(JsonNode::decimalValue);
    return new TaskCosts(
        usage.isEmpty() ? null : usage, models.isEmpty() ? null : models, cost.orElse(null));
  }

  private static void addModels(ObjectNode models, JsonNode more) {
    more.properties()
        .forEach(model -> add(models.withObjectProperty(model.getKey()), model.getValue()));
  }

  private static void add(ObjectNode sum, JsonNode more) {
    for (var name : TOKENS) {
      if (more.has(name)) {
        sum.put(name, sum.path(name).asLong(0) + more.get(name).longValue());
      }
    }
    if (more.has(COST)) {
      var before = sum.has(COST) ? sum.get(COST).decimalValue() : BigDecimal.ZERO;
      sum.put(COST, before.add(more.get(COST).decimalValue()));
    }
  }
}
